// As a repository's common header: for the device, for the host, and names that look like nvcc's.
#pragma once

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

static cublasHandle_t handle;

inline void set_up() {
  cublasCreate(&handle);
}

template <class Number>
struct alignas(16) Lanes {
  __device__ Number& operator[](int i) { return number[i]; }
  Number number[16 / sizeof(Number)];
};

#if defined(SHORT)
typedef __nv_bfloat16 Value;
#else
typedef float Value;
#endif

typedef Lanes<Value> ValueLanes;

#if defined(OLD_COMPILER)
__device__ Value __ldcs(const Value* place) {
  return *place;
}

__device__ void __stcs(Value* place, Value value) {
  *place = value;
}
#endif

// For the host.
template <class Whole>
Whole blocks_of(Whole count, Whole size) {
  return (count + size - 1) / size;
}
