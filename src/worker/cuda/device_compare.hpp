// Comparing outputs where they lie: on the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "worker/cuda/gpu.hpp"
#include "worker/tensor/buffers.hpp"
#include "worker/tensor/compare.hpp"

namespace kernelpro {

// As elements.cuh numbers the element types.
[[nodiscard]] int type_number(DType dtype);

// What went wrong first on the device, in words.
class DeviceTrouble {
 public:
  explicit DeviceTrouble(Gpu& gpu) : gpu_(gpu) {}
  void must(cuda::Code code, const char* doing);
  void note(const Status& status);
  [[nodiscard]] bool any() const { return problem_.has_value(); }
  // The first problem since the last time; a lost device stays lost.
  [[nodiscard]] Status take();

 private:
  Gpu& gpu_;
  std::optional<Error> problem_;
};

// Room on the device for what kernels find out.
class DeviceResults {
 public:
  DeviceResults(Gpu& gpu, DeviceTrouble& trouble) : gpu_(gpu), trouble_(trouble) {}
  ~DeviceResults();
  DeviceResults(const DeviceResults&) = delete;
  DeviceResults& operator=(const DeviceResults&) = delete;

  // Copies `initial` there, with `room` bytes in all; valid until the next call. Where that fails
  // there is trouble, and nothing may be launched on it.
  [[nodiscard]] cuda::Pointer start(const void* initial, std::size_t bytes, std::size_t room = 0);
  void read(void* to, std::size_t bytes);

 private:
  Gpu& gpu_;
  DeviceTrouble& trouble_;
  cuda::Pointer room_ = 0;
  std::size_t bytes_ = 0;
};

// What comparing one output came to, as compare_kernels.cuh has it.
struct DeviceComparison {
  double squares;
  std::uint64_t finite;
  std::uint64_t error_bits;
  std::uint64_t worst;
  std::uint64_t poisoned;
  std::uint64_t excused;
  std::uint64_t different;
  double actual;
  double expected;

  [[nodiscard]] double error() const;
};

// Whether an element that is not finite in the truth is excused, or must be so in both.
enum class NotFinite { excused, both_alike };

struct ComparedPair {
  cuda::Pointer actual = 0;
  cuda::Pointer truth = 0;
  const TensorPlan* tensor = nullptr;  // of `actual`
  DType truth_type = DType::f32;       // differs for floating outputs only
};

[[nodiscard]] std::vector<DeviceComparison> compare_on_device(
    Gpu& gpu, DeviceTrouble& trouble, DeviceResults& results,
    const std::vector<ComparedPair>& pairs, NotFinite not_finite);

// The comparison in the judge's words.
[[nodiscard]] TensorError error_of(const DeviceComparison& found, const TensorPlan& tensor);

}  // namespace kernelpro
