// cuBLAS is column-major: C^T = B^T A^T needs no transposition.
#include <cublas_v2.h>

#include <cstdint>
#include <string>

#include "kernelpro/candidate.h"

namespace {

// One handle for the process; pedantic, so that no TF32 and no lower precision is used.
cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t created = nullptr;
    if (cublasCreate(&created) == CUBLAS_STATUS_SUCCESS) {
      cublasSetMathMode(created, CUBLAS_PEDANTIC_MATH);
    }
    return created;
  }();
  return made;
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || handle() == nullptr ||
      cublasSetStream(handle(), static_cast<cudaStream_t>(context->stream)) !=
          CUBLAS_STATUS_SUCCESS) {
    return 1;
  }
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const float beta = 0.0F;
  return cublasSgemm_64(handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha,
                        static_cast<const float*>(tensors[1].data), n,
                        static_cast<const float*>(tensors[0].data), k, &beta,
                        static_cast<float*>(tensors[2].data), n) != CUBLAS_STATUS_SUCCESS;
}

const char* kp_implementation(void) {
  static const std::string name = [] {
    int major = 0;
    int minor = 0;
    cublasGetProperty(MAJOR_VERSION, &major);
    cublasGetProperty(MINOR_VERSION, &minor);
    return "cuBLAS " + std::to_string(major) + "." + std::to_string(minor) + ", pedantic math";
  }();
  return name.c_str();
}
