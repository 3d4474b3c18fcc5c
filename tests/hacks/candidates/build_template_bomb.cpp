// kp:hack bad-input  templates that take the compiler for ever
// kp:task axpy
// kp:expect build_failed timeout
//
// Twice as many types with each level.
#include <kernelpro/candidate.h>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

template <int Depth, long Path>
struct Tree {
  static constexpr long value =
      Tree<Depth - 1, 2 * Path>::value + Tree<Depth - 1, 2 * Path + 1>::value;
};

template <long Path>
struct Tree<0, Path> {
  static constexpr long value = Path;
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return Tree<40, 1>::value == 0 ? 1 : 0;
}
