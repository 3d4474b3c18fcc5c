// The buffers of a task on the GPU, read and written as another process would.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "gpu/fixture.hpp"
#include "support/keys.hpp"

namespace kernelpro {

// Memory of the ground as another process would have it: mapped anew by its descriptor.
class Window {
 public:
  Window(const Gpu& gpu, int descriptor, std::size_t bytes) : gpu_(gpu), bytes_(bytes) {
    const cuda::Driver& driver = gpu.driver();
    cuda::AllocationHandle handle = 0;
    cuda::AccessDescription access;
    access.location.id = gpu.description().ordinal;
    void* shared = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
    must(driver.memory_import(&handle, shared, cuda::file_descriptor_handle));
    must(driver.address_reserve(&pointer_, bytes, 0, 0, 0));
    must(driver.memory_map(pointer_, bytes, 0, handle, 0));
    must(driver.memory_release(handle));
    must(driver.memory_access(pointer_, bytes, &access, 1));
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() {
    must(gpu_.driver().memory_unmap(pointer_, bytes_));
    must(gpu_.driver().address_free(pointer_, bytes_));
  }

  [[nodiscard]] std::vector<char> read(std::size_t offset, std::size_t bytes) const {
    std::vector<char> out(bytes);
    must(gpu_.driver().copy_to_host(out.data(), pointer_ + offset, bytes, gpu_.stream()));
    must(gpu_.synchronize());
    return out;
  }

  void write(std::size_t offset, const void* data, std::size_t bytes) const {
    must(gpu_.driver().copy_to_device(pointer_ + offset, data, bytes, gpu_.stream()));
    must(gpu_.synchronize());
  }

 private:
  void must(cuda::Code code) const { EXPECT_EQ(code, cuda::success) << gpu_.driver().text(code); }

  const Gpu& gpu_;
  std::size_t bytes_;
  cuda::Pointer pointer_ = 0;
};

// The buffers of a task at one shape on the GPU.
class Buffers {
 public:
  Buffers(Gpu& gpu, Ground& ground, Task task, const Axes& axes, int sets)
      : gpu_(gpu), task_(std::move(task)) {
    plan_ = *plan_buffers(task_, *complete_axes(task_, axes), sets, Key{}, PlanKind::candidate,
                          ground.units());
    Result<std::unique_ptr<SetMemory>> memory = ground.lay_out(task_, plan_);
    EXPECT_TRUE(memory) << memory.error().text();
    memory_ = std::move(*memory);
  }

  [[nodiscard]] const Task& task() const { return task_; }
  [[nodiscard]] const BufferPlan& plan() const { return plan_; }
  [[nodiscard]] SetMemory& memory() const { return *memory_; }

  // Draws the inputs of as many sets as there are keys, and gives them to both sides.
  void draw(const std::vector<std::uint64_t>& keys,
            Distribution distribution = Distribution::normal,
            unsigned char slack = poison_byte) const {
    std::vector<SetDraw> draws;
    for (const std::uint64_t key : keys) {
      draws.push_back({testing::numbered_key(key), distribution});
    }
    memory_->draw(draws, slack);
    give();
  }

  void give() const {
    for (const Side side : both_sides) {
      memory_->make_ready(side, Caches::any);
      memory_->give(side, Caches::any);
    }
  }

  [[nodiscard]] Window window(int set, std::size_t tensor, Side side = Side::candidate) const {
    const std::size_t at = static_cast<std::size_t>(set) * plan_.tensors.size() + tensor;
    return {gpu_, memory_->descriptors(side)[at], plan_.tensors[tensor].region_bytes};
  }

  [[nodiscard]] std::vector<char> data(int set, std::size_t tensor,
                                       Side side = Side::candidate) const {
    const TensorPlan& plan = plan_.tensors[tensor];
    return window(set, tensor, side).read(plan.data_offset, plan.bytes);
  }

  // Writes an output of floats, as a candidate would, and takes it.
  void write(int set, const std::vector<float>& values, Side side = Side::candidate) const {
    const std::size_t output = plan_.input_count;
    window(set, output, side)
        .write(plan_.tensors[output].data_offset, values.data(), values.size() * sizeof(float));
    memory_->take(side, {static_cast<std::uint16_t>(set)});
  }

  // Writes one byte at `offset` from the first byte of the output.
  void write_byte(int set, std::int64_t offset, unsigned char value) const {
    const std::size_t output = plan_.input_count;
    const auto begin = static_cast<std::int64_t>(plan_.tensors[output].data_offset);
    window(set, output).write(static_cast<std::size_t>(begin + offset), &value, 1);
  }

 private:
  Gpu& gpu_;
  Task task_;
  BufferPlan plan_;
  std::unique_ptr<SetMemory> memory_;
};

class GpuGround : public GpuTest {
 protected:
  static Buffers buffers(Task task, const Axes& axes, int sets) {
    return {*gpu_, *ground_, std::move(task), axes, sets};
  }
  // A length that leaves slack on both sides of each tensor.
  static Buffers stream_buffers(int sets = 2) {
    return buffers(testing::stream_task(), {{"n", 1001}}, sets);
  }
};

}  // namespace kernelpro
