// The judge's buffers: where each tensor of each set lies, and the shared memory behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/chacha.hpp"
#include "common/base/result.hpp"
#include "common/base/runner_protocol.hpp"
#include "common/base/unique_fd.hpp"
#include "common/model/task.hpp"

namespace kernelpro {

struct TensorPlan {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::size_t elements = 0;
  std::size_t bytes = 0;
  bool output = false;
  std::size_t region_offset = 0;  // page-aligned, within a set of its arena
  std::size_t region_bytes = 0;   // a multiple of the page
  std::size_t data_offset = 0;    // aligned; the data ends within one alignment of the region's end
};

// How memory is handed out: regions are whole pages, tensors start at multiples of `alignment`.
struct MemoryUnits {
  std::size_t page = 0;
  std::size_t alignment = 64;
};

// The units of memory shared between processes of this machine.
[[nodiscard]] MemoryUnits host_units();

// `sets` copies of a task's tensors at one shape.
struct BufferPlan {
  Axes axes;                              // completed
  std::vector<double> scalars;            // rounded to their type
  std::vector<std::int64_t> axis_values;  // in the task's order
  int sets = 1;
  std::vector<TensorPlan> tensors;  // inputs, then outputs
  std::size_t input_count = 0;
  std::size_t input_stride = 0;  // bytes of one set in the input arena
  std::size_t output_stride = 0;
  std::size_t set_bytes = 0;  // data of one set, inputs and outputs

  [[nodiscard]] std::size_t input_bytes() const {
    return input_stride * static_cast<std::size_t>(sets);
  }
  [[nodiscard]] std::size_t output_bytes() const {
    return output_stride * static_cast<std::size_t>(sets);
  }
};

// The least multiple of `unit` that is not below `bytes`.
[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// What a plan holds beside the inputs.
enum class PlanKind {
  candidate,  // the task's outputs
  oracle,     // the same outputs in double (whole numbers as they are), no index outputs, and the
              // selections
};

// `axes` completed; `scalar_key` draws the scalars.
[[nodiscard]] Result<BufferPlan> plan_buffers(const Task& task, const Axes& axes, int sets,
                                              const Key& scalar_key,
                                              PlanKind kind = PlanKind::candidate,
                                              MemoryUnits units = host_units());

// Draws the scalars of an existing plan anew.
void redraw_scalars(const Task& task, BufferPlan& plan, const Key& scalar_key);

// The plan as the runner reads it, without workspace and state.
[[nodiscard]] runner::Layout runner_layout(const BufferPlan& plan, int threads);

// Shared memory (memfd) mapped here for reading and writing.
class Arena {
 public:
  Arena() = default;
  // `read_only_elsewhere`: sealed so that no other process can ever map it writable. No process can
  // change its size.
  [[nodiscard]] static Result<Arena> create(std::size_t bytes, bool read_only_elsewhere);
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

// The byte that fills outputs, slack and workspace before a call: NaN in every floating type.
inline constexpr unsigned char poison_byte = 0xff;

// The first byte of tensor `index` in `set`, given its arena.
[[nodiscard]] inline char* tensor_data(const BufferPlan& plan, const Arena& arena, int set,
                                       std::size_t index) {
  const TensorPlan& tensor = plan.tensors[index];
  const std::size_t stride = tensor.output ? plan.output_stride : plan.input_stride;
  return arena.data() + static_cast<std::size_t>(set) * stride + tensor.region_offset +
         tensor.data_offset;
}

// Whether every byte is poison.
[[nodiscard]] bool is_poison(const char* data, std::size_t bytes);

// Fills the output regions of `set`, slack included, with poison.
void poison_outputs(const BufferPlan& plan, const Arena& outputs, int set);

struct GuardBreach {
  std::string tensor;
  std::int64_t offset = 0;  // bytes from the tensor's first (negative) or past its last byte
  bool before = false;
};

// Whether any slack byte beside the outputs of `set` has changed.
[[nodiscard]] std::vector<GuardBreach> find_breaches(const BufferPlan& plan, const Arena& outputs,
                                                     int set);

// Whether `set` still is as poison_outputs left it, data and slack.
[[nodiscard]] bool still_poisoned(const BufferPlan& plan, const Arena& outputs, int set);

}  // namespace kernelpro
