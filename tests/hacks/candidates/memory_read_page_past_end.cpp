// kp:hack 19  reads a page behind an input and discards it
// kp:task axpy
// kp:expect crashed guard
//
// Prefetches by loading one page ahead; the value is not used, the load is still out of bounds.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto bytes = static_cast<size_t>(context->axes[0]) * sizeof(float);
  const auto ahead = bytes + static_cast<size_t>(sysconf(_SC_PAGESIZE));
  [[maybe_unused]] const char touched = static_cast<const volatile char*>(tensors[0].data)[ahead];
  axpy(context, tensors);
  return 0;
}
