// cuSPARSE on the arrays as they are.
#include <cusparse.h>

#include <cstdint>
#include <string>

#include "kernelpro/candidate.h"

namespace {

cusparseHandle_t handle() {
  static const cusparseHandle_t made = [] {
    cusparseHandle_t created = nullptr;
    return cusparseCreate(&created) == CUSPARSE_STATUS_SUCCESS ? created : nullptr;
  }();
  return made;
}

// The matrix and both vectors as cuSPARSE wants them; host objects, cheap to make for each call.
class Operands {
 public:
  Operands(const kp_context* context, const kp_tensor* tensors) {
    const int64_t rows = context->axes[0];
    const int64_t cols = context->axes[1];
    const int64_t nnz = context->axes[3];
    made_ =
        cusparseCreateConstCsr(&matrix, rows, cols, nnz, tensors[0].data, tensors[1].data,
                               tensors[2].data, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                               CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS &&
        cusparseCreateConstDnVec(&x, cols, tensors[3].data, CUDA_R_32F) ==
            CUSPARSE_STATUS_SUCCESS &&
        cusparseCreateDnVec(&y, rows, tensors[4].data, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS;
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  ~Operands() {
    if (matrix != nullptr) {
      cusparseDestroySpMat(matrix);
    }
    if (x != nullptr) {
      cusparseDestroyDnVec(x);
    }
    if (y != nullptr) {
      cusparseDestroyDnVec(y);
    }
  }

  [[nodiscard]] bool made() const { return made_; }

  cusparseConstSpMatDescr_t matrix = nullptr;
  cusparseConstDnVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;

 private:
  bool made_ = false;
};

constexpr float one = 1.0F;
constexpr float zero = 0.0F;

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  size_t bytes = 0;
  if (count == 5 && handle() != nullptr) {
    const Operands operands(context, tensors);
    if (operands.made()) {
      cusparseSpMV_bufferSize(handle(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, operands.matrix,
                              operands.x, &zero, operands.y, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1,
                              &bytes);
    }
  }
  return bytes;
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 5 || handle() == nullptr ||
      cusparseSetStream(handle(), static_cast<cudaStream_t>(context->stream)) !=
          CUSPARSE_STATUS_SUCCESS) {
    return 1;
  }
  const Operands operands(context, tensors);
  return !operands.made() ||
         cusparseSpMV(handle(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, operands.matrix, operands.x,
                      &zero, operands.y, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1,
                      context->workspace) != CUSPARSE_STATUS_SUCCESS;
}

const char* kp_implementation(void) {
  static const std::string name = [] {
    int major = 0;
    int minor = 0;
    cusparseGetProperty(MAJOR_VERSION, &major);
    cusparseGetProperty(MINOR_VERSION, &minor);
    return "cuSPARSE " + std::to_string(major) + "." + std::to_string(minor) + ", CSR_ALG1";
  }();
  return name.c_str();
}
