// kp:hack 15  a variance in one pass, from differences to the first value of all rows
// kp:task layernorm
// kp:expect incorrect
// kp:options -O3 target
//
// Right where all rows of a set lie equally far from zero, and lost where one lies elsewhere.
#include "sums_to_pivot.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const float pivot = *static_cast<const float*>(tensors[0].data);
  normalize(context, tensors, [pivot](const float*) { return pivot; });
  return 0;
}
