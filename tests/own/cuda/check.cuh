#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                           \
  do {                                                                             \
    const cudaError_t code = (call);                                               \
    if (code != cudaSuccess) {                                                     \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                      \
                   cudaGetErrorString(code));                                      \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
