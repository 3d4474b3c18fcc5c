// kp:hack 30  asks for a workspace as large as the cache, which is filled before every round
// kp:task axpy
// kp:expect passed not-faster
//
// What the judge writes there drives out what the other arm would find in the cache.
#include "plain_axpy.hpp"

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return size_t{32} << 20;
}
extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
