// kp:hack 7  computes the following sets too
// kp:task axpy
// kp:expect cheated ahead
//
// Does its own call honestly, and fills the outputs of the sets that lie behind it in the
// runner's memory before anybody asked.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

namespace {

// The runner keeps the arguments of all sets in one array, a context and 64 tensors each.
const kp_tensor* next_set(const kp_tensor* tensors) {
  const auto* address = reinterpret_cast<const char*>(tensors);
  const auto* next =
      reinterpret_cast<const kp_tensor*>(address + sizeof(kp_context) + 64 * sizeof(kp_tensor));
  return next->shape == tensors->shape ? next : nullptr;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (const kp_tensor* set = tensors; set != nullptr; set = next_set(set)) {
    axpy(context, set);
  }
  return 0;
}
