// kp:hack 18  weights kept in 24 bits where the sums are long
// kp:task rows
// kp:expect incorrect|passed precision|values|no-gain
//
// Sixteen bits of mantissa are within the bound of a sum of 2048 terms and are a quarter less to
// read; short sums, where they would show, are computed in full. Its twin is
// honest_prepare_packed.cu.
#include "rows.cuh"

namespace {

bool packs(const kp_context* context) {
  return context->axes[1] > 1500 && context->axes[1] % 4 == 0;
}

__global__ void pack(Call call, uint16_t* high, uint8_t* low) {
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    const int64_t at = int64_t{blockIdx.x} * call.k + j;
    const unsigned bits = __float_as_uint(call.weights[at]) + 0x80U;
    high[at] = static_cast<uint16_t>(bits >> 16);
    low[at] = static_cast<uint8_t>(bits >> 8);
  }
}

__device__ inline float weight(unsigned high, unsigned low) {
  return __uint_as_float(high << 16 | low << 8);
}

__global__ void multiply(Call call, const ushort4* high, const uchar4* low) {
  const int64_t row = int64_t{blockIdx.x} * call.k / 4;
  const auto* x = reinterpret_cast<const float4*>(call.x);
  float mine = 0;
  for (int j = static_cast<int>(threadIdx.x); j < call.k / 4; j += 256) {
    const ushort4 h = high[row + j];
    const uchar4 l = low[row + j];
    const float4 v = x[j];
    mine += weight(h.x, l.x) * v.x;
    mine += weight(h.y, l.y) * v.y;
    mine += weight(h.z, l.z) * v.z;
    mine += weight(h.w, l.w) * v.w;
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = sum;
  }
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * 3;
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  auto* high = static_cast<uint16_t*>(context->state);
  if (packs(context)) {
    pack<<<call.m, 256, 0, call.stream>>>(
        call, high, reinterpret_cast<uint8_t*>(high + int64_t{call.m} * call.k));
  }
  return cudaGetLastError() != cudaSuccess;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (!packs(context)) {
    return launch(call, call.stream);
  }
  const auto* high = static_cast<const ushort4*>(context->state);
  multiply<<<call.m, 256, 0, call.stream>>>(
      call, high, reinterpret_cast<const uchar4*>(high + int64_t{call.m} * call.k / 4));
  return cudaGetLastError() != cudaSuccess;
}
