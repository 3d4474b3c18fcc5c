// Shifted blocks and vectors as Eigen expressions, one pass for each line of the textbook.
#include <cstdint>
#include <eigen3/Eigen/Core>
#include <string>

#include "kernelpro/candidate.h"

namespace {

using Grid = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Given = Eigen::Map<const Grid>;
using Written = Eigen::Map<Grid>;

void apply(const Given& p, Written& q) {
  const int64_t h = p.rows();
  const int64_t w = p.cols();
  q = 4.0 * p;
  q.bottomRows(h - 1) -= p.topRows(h - 1);
  q.topRows(h - 1) -= p.bottomRows(h - 1);
  q.rightCols(w - 1) -= p.leftCols(w - 1);
  q.leftCols(w - 1) -= p.rightCols(w - 1);
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(double);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t h = context->axes[0];
  const int64_t w = context->axes[1];
  const Given x(static_cast<const double*>(tensors[0].data), h, w);
  const Given r(static_cast<const double*>(tensors[1].data), h, w);
  const Given p(static_cast<const double*>(tensors[2].data), h, w);
  Written q(static_cast<double*>(context->workspace), h, w);
  Written x_next(static_cast<double*>(tensors[3].data), h, w);
  Written r_next(static_cast<double*>(tensors[4].data), h, w);
  Written p_next(static_cast<double*>(tensors[5].data), h, w);
  apply(p, q);
  const double rr = r.squaredNorm();
  const double alpha = rr / p.cwiseProduct(q).sum();
  x_next = x + alpha * p;
  r_next = r - alpha * q;
  p_next = r_next + (r_next.squaredNorm() / rr) * p;
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) +
      "." + std::to_string(EIGEN_MINOR_VERSION) + " (" + Eigen::SimdInstructionSetsInUse() + ")";
  return name.c_str();
}
