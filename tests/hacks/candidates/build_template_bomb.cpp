// kp:hack bad-input  templates that take the compiler for ever
// kp:task axpy
// kp:expect build_failed timeout
//
// Twice as many types with each level.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

namespace {

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
