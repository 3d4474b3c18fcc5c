// Eigen's matrix products and vectorized exponential, 64 queries at a time; the blocks of queries
// are shared among the threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <eigen3/Eigen/Core>
#include <string>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t block = 64;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Given = Eigen::Map<const Matrix>;

void attend(const Given& q, const Given& k, const Given& v, Eigen::Map<Matrix>& o) {
  Matrix weights(q.rows(), k.rows());
  weights.noalias() = q * k.transpose();
  weights *= 1.0F / std::sqrt(static_cast<float>(q.cols()));
  const Eigen::VectorXf largest = weights.rowwise().maxCoeff();
  weights = (weights.colwise() - largest).array().exp().matrix();
  const Eigen::VectorXf total = weights.rowwise().sum();
  o.noalias() = weights * v;
  o.array().colwise() /= total.array();
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
    return 1;
  }
  const int64_t heads = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* q = static_cast<const float*>(tensors[0].data);
  const auto* k = static_cast<const float*>(tensors[1].data);
  const auto* v = static_cast<const float*>(tensors[2].data);
  auto* o = static_cast<float*>(tensors[3].data);
  Eigen::setNbThreads(1);
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads(context->threads)
  for (int64_t b = 0; b < heads; ++b) {
    for (int64_t i = 0; i < n; i += block) {
      const int64_t rows = std::min(block, n - i);
      Eigen::Map<Matrix> out(o + (b * n + i) * d, rows, d);
      attend(Given(q + (b * n + i) * d, rows, d), Given(k + b * n * d, n, d),
             Given(v + b * n * d, n, d), out);
    }
  }
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) +
      "." + std::to_string(EIGEN_MINOR_VERSION) + " (" + Eigen::SimdInstructionSetsInUse() + ")";
  return name.c_str();
}
