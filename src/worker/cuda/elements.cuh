// Elements of tensors by type and index, and sums over a warp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

using Size = unsigned long long;

// The worker's names for element types; device_compare.hpp has the same.
enum Type : int { t_f64, t_f32, t_f16, t_bf16, t_i64, t_i32, t_i16, t_i8, t_u8 };

__device__ Size first_index() { return blockIdx.x * Size{blockDim.x} + threadIdx.x; }
__device__ Size index_step() { return Size{gridDim.x} * blockDim.x; }

__device__ void store(void* data, int type, Size i, float value) {
  switch (type) {
    case t_f64: static_cast<double*>(data)[i] = value; break;
    case t_f16: static_cast<__half*>(data)[i] = __float2half_rn(value); break;
    case t_bf16: static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(value); break;
    default: static_cast<float*>(data)[i] = value;
  }
}

__device__ void store_whole(void* data, int type, Size i, long long value) {
  switch (type) {
    case t_i64: static_cast<long long*>(data)[i] = value; break;
    case t_i32: static_cast<int*>(data)[i] = static_cast<int>(value); break;
    case t_i16: static_cast<short*>(data)[i] = static_cast<short>(value); break;
    default: static_cast<signed char*>(data)[i] = static_cast<signed char>(value);
  }
}

__device__ long long load_whole(const void* data, int type, Size i) {
  switch (type) {
    case t_i64: return static_cast<const long long*>(data)[i];
    case t_i32: return static_cast<const int*>(data)[i];
    case t_i16: return static_cast<const short*>(data)[i];
    case t_u8: return static_cast<const unsigned char*>(data)[i];
    default: return static_cast<const signed char*>(data)[i];
  }
}

__device__ double load(const void* data, int type, Size i) {
  switch (type) {
    case t_f64: return static_cast<const double*>(data)[i];
    case t_f32: return static_cast<const float*>(data)[i];
    case t_f16: return __half2float(static_cast<const __half*>(data)[i]);
    case t_bf16: return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
    default: return static_cast<double>(load_whole(data, type, i));
  }
}

__device__ int width_of(int type) {
  switch (type) {
    case t_f64:
    case t_i64: return 8;
    case t_f32:
    case t_i32: return 4;
    case t_f16:
    case t_bf16:
    case t_i16: return 2;
    default: return 1;
  }
}

__device__ bool is_poison(const void* data, int type, Size i) {
  const int width = width_of(type);
  const unsigned char* bytes = static_cast<const unsigned char*>(data) + i * width;
  for (int k = 0; k < width; ++k) {
    if (bytes[k] != 0xff) return false;
  }
  return true;
}

// Of a whole warp, for its first lane: one atomic a warp, since those of all threads on one address
// queue up for longer than the reading takes.
__device__ Size warp_sum(Size value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(~0U, value, offset);
  }
  return value;
}

__device__ double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(~0U, value, offset);
  }
  return value;
}

__device__ double warp_max(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmax(value, __shfl_down_sync(~0U, value, offset));
  }
  return value;
}

__device__ bool first_lane() { return threadIdx.x % 32 == 0; }

}  // namespace
