// One GPU, opened by the worker: its own context, its own stream, its own kernels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/cuda_driver.hpp"
#include "common/base/result.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

struct GpuDescription {
  int ordinal = 0;
  std::string name;          // "NVIDIA H200"
  std::string uuid;          // "GPU-…", as the driver's tools print it
  std::string architecture;  // "90a": what candidates are compiled for
  int driver_version = 0;    // 13000 is CUDA 13.0
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::string unusable;  // why nothing can be judged on it; empty: it can
};

// The GPUs of this machine as the driver counts them, unusable ones too. An environment error says
// what is missing.
[[nodiscard]] Result<std::vector<GpuDescription>> list_gpus();

// What a multiprocessor of GPU `ordinal` holds at most (Profile::limits); empty when it cannot be
// asked.
[[nodiscard]] std::map<std::string, double> gpu_limits(int ordinal);

// An environment error when code of that nvcc (what `nvcc --version` says) cannot run on a driver
// of that version: a driver takes every toolkit up to its own major version.
[[nodiscard]] Status check_driver(int driver_version, const std::string& nvcc_identity);

// Where the device's memory is mapped for us, and by which descriptor another process can map it.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  [[nodiscard]] static Result<DeviceBlock> create(const cuda::Driver& driver, int ordinal,
                                                  std::size_t bytes);
  DeviceBlock(DeviceBlock&& other) noexcept;
  DeviceBlock& operator=(DeviceBlock&& other) noexcept;
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  ~DeviceBlock();

  [[nodiscard]] cuda::Pointer pointer() const { return pointer_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // Made when it is first asked for; -1 when that fails.
  [[nodiscard]] int descriptor() const;

 private:
  const cuda::Driver* driver_ = nullptr;
  cuda::AllocationHandle handle_ = 0;
  cuda::Pointer pointer_ = 0;
  std::size_t bytes_ = 0;
  mutable int descriptor_ = -1;
};

class Gpu {
 public:
  // Opens the GPU with that number and builds our kernels for it.
  [[nodiscard]] static Result<std::unique_ptr<Gpu>> open(const GpuDescription& description,
                                                         const Toolchain& toolchain);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  [[nodiscard]] const GpuDescription& description() const { return description_; }
  [[nodiscard]] const cuda::Driver& driver() const { return *driver_; }
  [[nodiscard]] cuda::Stream stream() const { return stream_; }
  [[nodiscard]] std::size_t granularity() const { return granularity_; }
  [[nodiscard]] std::int64_t free_bytes() const;
  // Whether our context can do nothing any more: only another process gets a new one.
  [[nodiscard]] bool lost() const { return synchronize() != cuda::success; }

  // Memory that other processes may map.
  [[nodiscard]] Result<DeviceBlock> share(std::size_t bytes) const;

  // Launches one of our kernels over `work` items on our stream.
  template <typename... Arguments>
  [[nodiscard]] cuda::Code launch(const char* kernel, std::uint64_t work,
                                  Arguments... passed) const {
    void* pointers[] = {&passed..., nullptr};
    return launch_kernel(kernel, work, pointers);
  }
  [[nodiscard]] cuda::Code synchronize() const { return driver_->stream_synchronize(stream_); }

 private:
  Gpu() = default;
  [[nodiscard]] Status open_context();
  [[nodiscard]] Status load_kernels(const Toolchain& toolchain);
  [[nodiscard]] cuda::Code launch_kernel(const char* kernel, std::uint64_t work,
                                         void** arguments) const;

  GpuDescription description_;
  const cuda::Driver* driver_ = nullptr;
  cuda::Stream stream_ = nullptr;
  cuda::Module module_ = nullptr;
  std::vector<std::pair<std::string, cuda::Function>> functions_;
  std::size_t granularity_ = 0;
};

}  // namespace kernelpro
