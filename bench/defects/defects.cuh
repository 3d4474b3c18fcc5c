// Kernels with a known defect, and their clean twins: what a case is, and what it is made of.
//
// One file a defect adds its cases by add_<tool>(); main.cu lists, runs and verifies them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace defects {

// Ends the program with a message unless `error` is cudaSuccess.
void require(cudaError_t error, const char* what, const char* file, int line);
#define REQUIRE(call) ::defects::require((call), #call, __FILE__, __LINE__)

constexpr int kMultiprocessors = 132;  // of an H200; cases are laid out for it
constexpr std::size_t kMiB = std::size_t{1} << 20;

enum class Element { u8, u32, i32, f16, bf16, f32, f64 };

template <class T>
struct ElementOf;
// clang-format off
template <> struct ElementOf<std::uint8_t> { static constexpr Element value = Element::u8; };
template <> struct ElementOf<std::uint32_t> { static constexpr Element value = Element::u32; };
template <> struct ElementOf<std::int32_t> { static constexpr Element value = Element::i32; };
template <> struct ElementOf<__half> { static constexpr Element value = Element::f16; };
template <> struct ElementOf<__nv_bfloat16> { static constexpr Element value = Element::bf16; };
template <> struct ElementOf<float> { static constexpr Element value = Element::f32; };
template <> struct ElementOf<double> { static constexpr Element value = Element::f64; };
// clang-format on

// Device memory taken once for all cases and dealt out anew for each.
class Pool {
 public:
  Pool();
  void restart();

  template <class T>
  T* take(std::size_t count) {
    return static_cast<T*>(bytes(count * sizeof(T)));
  }
  // Values depend on how many arrays were filled before, so twins that ask alike get the same:
  // floating point in [-1, 1), integers of full range.
  template <class T>
  T* random(std::size_t count) {
    T* data = take<T>(count);
    fill(data, count, ElementOf<T>::value);
    return data;
  }
  std::uint32_t* random_below(std::size_t count, std::uint32_t limit);

 private:
  void* bytes(std::size_t size);
  void fill(void* data, std::size_t count, Element element);

  char* data_ = nullptr;
  std::size_t used_ = 0;
  std::uint32_t filled_ = 0;
};

// Where a unit leaves its result, to be compared with its twin's: |a - b| / (|b| + rms(b)).
struct Output {
  void* data = nullptr;
  std::size_t count = 0;
  Element element = Element::f32;
  double tolerance = 0;
};

template <class T>
Output output(T* data, std::size_t count, double tolerance = 1e-5) {
  return {data, count, ElementOf<T>::value, tolerance};
}

struct Work {
  std::function<void()> unit;       // one launch, or one whole sequence; may return before its end
  Output out;                       // zeroed before a unit that is verified
  std::function<double()> error{};  // against a reference of the host, same measure; may be empty
  std::function<void()> finish{};   // gives back what prepare took beside the pool; may be empty
};

struct Case {
  std::string tool;
  std::string shape;
  std::string setting;
  std::string type;
  double knob = 0;  // 0 clean to 1 severe
  bool defective = false;
  bool tempting = false;  // clean, but looks like the defect
  std::string twin;       // the shape's first clean setting; empty for that one itself
  std::vector<std::string> also;
  std::vector<std::string> classes;
  double flops = 0;  // useful work, and the least bytes it must move
  double bytes = 0;
  std::function<Work(Pool&)> prepare;

  [[nodiscard]] std::string name() const { return tool + "/" + shape + "/" + setting; }
  Case& with(std::vector<std::string> tools) {
    also = std::move(tools);
    return *this;
  }
  Case& in(std::vector<std::string> allowed) {
    classes = std::move(allowed);
    return *this;
  }
};

using Cases = std::deque<Case>;
using Prepare = std::function<Work(Pool&)>;

// The cases of one shape. The first clean one is the twin of all that follow.
class Shape {
 public:
  Shape(Cases& cases, std::string tool, std::string name, std::string type, double flops,
        double bytes, std::vector<std::string> classes)
      : cases_(cases) {
    base_.tool = std::move(tool);
    base_.shape = std::move(name);
    base_.type = std::move(type);
    base_.flops = flops;
    base_.bytes = bytes;
    base_.classes = std::move(classes);
  }

  Case& clean(const std::string& setting, Prepare prepare) {
    Case& added = add(setting, 0, std::move(prepare));
    if (base_.twin.empty()) base_.twin = added.name();
    return added;
  }
  Case& tempting(const std::string& setting, Prepare prepare) {
    Case& added = clean(setting, std::move(prepare));
    added.tempting = true;
    return added;
  }
  Case& defect(const std::string& setting, double knob, Prepare prepare) {
    Case& added = add(setting, knob, std::move(prepare));
    added.defective = true;
    return added;
  }

 private:
  Case& add(const std::string& setting, double knob, Prepare prepare) {
    cases_.push_back(base_);
    Case& added = cases_.back();
    added.setting = setting;
    added.knob = knob;
    added.prepare = std::move(prepare);
    return added;
  }

  Cases& cases_;
  Case base_;
};

void add_uncoalesced_access(Cases& cases);
void add_narrow_loads(Cases& cases);
void add_narrow_loads_streams(Cases& cases);
void add_narrow_loads_rows(Cases& cases);
void add_excess_traffic(Cases& cases);
void add_bank_conflicts(Cases& cases);
void add_register_spills(Cases& cases);
void add_occupancy_limiter(Cases& cases);
void add_occupancy_limiter_lookups(Cases& cases);
void add_block_shortage(Cases& cases);
void add_barrier_stalls(Cases& cases);
void add_long_scoreboard(Cases& cases);
void add_contended_atomics(Cases& cases);
void add_tensor_cores_unused(Cases& cases);
void add_hmma_where_hgmma(Cases& cases);
void add_hmma_where_hgmma_layers(Cases& cases);
void add_launch_bound(Cases& cases);
void add_host_waits(Cases& cases);
void add_divergent_warps(Cases& cases);
void add_divergent_warps_rows(Cases& cases);
void add_accidental_double(Cases& cases);
void add_accidental_double_indices(Cases& cases);
void add_slow_arithmetic(Cases& cases);
void add_slow_arithmetic_layers(Cases& cases);
void add_integer_division(Cases& cases);
void add_integer_division_tensors(Cases& cases);
void add_repeated_loads(Cases& cases);
void add_repeated_loads_tiles(Cases& cases);
void add_memory_fences(Cases& cases);
void add_memory_fences_queues(Cases& cases);

// What most kernels need.

template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T v[N];
};

__device__ __forceinline__ float to_float(float x) {
  return x;
}
__device__ __forceinline__ float to_float(__half x) {
  return __half2float(x);
}
__device__ __forceinline__ float to_float(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
__device__ __forceinline__ void from_float(float& y, float x) {
  y = x;
}
__device__ __forceinline__ void from_float(__half& y, float x) {
  y = __float2half_rn(x);
}
__device__ __forceinline__ void from_float(__nv_bfloat16& y, float x) {
  y = __float2bfloat16_rn(x);
}

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__device__ __forceinline__ float warp_max(float value) {
  for (int step = 16; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
  }
  return value;
}

// The sum over the block, in thread 0. One barrier; the block has whole warps.
template <class T>
__device__ __forceinline__ T block_sum(T value) {
  __shared__ T partial[32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : T(0);
    value = warp_sum(value);
  }
  return value;
}

// `steps` dependent multiply-adds; stays in (-2, 2) for x in [-1, 1).
__device__ __forceinline__ float fma_chain(float x, int steps) {
  float y = x;
#pragma unroll 16
  for (int i = 0; i < steps; ++i) y = fmaf(y, 0.4999f, x * 0.5f);
  return y;
}

// Threads may use more shared memory than 48 KiB only when told so.
template <class Kernel>
void allow_shared(Kernel* kernel, int bytes) {
  REQUIRE(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

}  // namespace defects
