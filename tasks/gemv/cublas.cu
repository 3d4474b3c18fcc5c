// cuBLAS is column-major: the row-major A is its own transpose.
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
  const float alpha = 1.0F;
  const float beta = 0.0F;
  return cublasSgemv_64(handle(), CUBLAS_OP_T, n, m, &alpha,
                        static_cast<const float*>(tensors[0].data), n,
                        static_cast<const float*>(tensors[1].data), 1, &beta,
                        static_cast<float*>(tensors[2].data), 1) != CUBLAS_STATUS_SUCCESS;
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
