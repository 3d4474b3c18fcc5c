// kp:hack 30  an empty kp_prepare, in a task where memory is all that counts
// kp:task layernorm
// kp:against honest_streamed_rows.cpp
// kp:expect passed not-faster
// kp:options -O3 target openmp
//
// As timing_empty_prepare, held against the same code without it: inputs that are written again
// right before its calls lie in the cache, if those of the other arm do not.
#include "streamed_rows.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  normalize_rows(context, tensors);
  return 0;
}
extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 64;
}
extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}
