// What does not depend on the query is prepared; Eigen's row-major sparse product does the rest,
// and shares large products among threads by itself.
#include <cstdint>
#include <eigen3/Eigen/SparseCore>
#include <string>

#include "kernelpro/candidate.h"

size_t kp_state(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[3]) * sizeof(float);
}

int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6 || context->state_bytes < kp_state(context, tensors, count)) {
    return 1;
  }
  const int64_t documents = context->axes[0];
  const auto k = static_cast<float>(context->scalars[0]);
  const auto* starts = static_cast<const int32_t*>(tensors[0].data);
  const auto* norm = static_cast<const float*>(tensors[3].data);
  using Values = Eigen::Map<const Eigen::ArrayXf>;
  const Values tf(static_cast<const float*>(tensors[2].data), context->axes[3]);
  Eigen::Map<Eigen::ArrayXf> impact(static_cast<float*>(context->state), context->axes[3]);
  for (int64_t d = 0; d < documents; ++d) {
    const int64_t length = starts[d + 1] - starts[d];
    const auto own = tf.segment(starts[d], length);
    impact.segment(starts[d], length) = own / (own + k * norm[d]);
  }
  return 0;
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6 || context->state == nullptr) {
    return 1;
  }
  using Matrix = Eigen::SparseMatrix<float, Eigen::RowMajor, int32_t>;
  const int64_t documents = context->axes[0];
  const int64_t terms = context->axes[1];
  const Eigen::Map<const Matrix> impacts(
      documents, terms, context->axes[3], static_cast<const int32_t*>(tensors[0].data),
      static_cast<const int32_t*>(tensors[1].data), static_cast<const float*>(context->state));
  const Eigen::Map<const Eigen::VectorXf> weight(static_cast<const float*>(tensors[4].data), terms);
  Eigen::Map<Eigen::VectorXf> score(static_cast<float*>(tensors[5].data), documents);
  Eigen::setNbThreads(context->threads);
  score.noalias() = impacts * weight;
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) +
      "." + std::to_string(EIGEN_MINOR_VERSION) + " (" + Eigen::SimdInstructionSetsInUse() + ")";
  return name.c_str();
}
