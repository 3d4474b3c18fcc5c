// Eigen's row-major sparse product on the arrays as they are; it shares large products among
// threads by itself.
#include <cstdint>
#include <eigen3/Eigen/SparseCore>
#include <string>

#include "kernelpro/candidate.h"

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 5) {
    return 1;
  }
  using Matrix = Eigen::SparseMatrix<float, Eigen::RowMajor, int32_t>;
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const int64_t nnz = context->axes[3];
  const Eigen::Map<const Matrix> matrix(
      rows, cols, nnz, static_cast<const int32_t*>(tensors[0].data),
      static_cast<const int32_t*>(tensors[1].data), static_cast<const float*>(tensors[2].data));
  const Eigen::Map<const Eigen::VectorXf> x(static_cast<const float*>(tensors[3].data), cols);
  Eigen::Map<Eigen::VectorXf> y(static_cast<float*>(tensors[4].data), rows);
  Eigen::setNbThreads(context->threads);
  y.noalias() = matrix * x;
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) +
      "." + std::to_string(EIGEN_MINOR_VERSION) + " (" + Eigen::SimdInstructionSetsInUse() + ")";
  return name.c_str();
}
