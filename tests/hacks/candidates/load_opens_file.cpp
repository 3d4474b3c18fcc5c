// kp:hack 33  file opened at load
// kp:task axpy
// kp:expect cheated sandbox
//
// A constructor runs before the first call and opens a file.
#include <fcntl.h>
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

namespace {

[[gnu::constructor]] void at_load() {
  open("/etc/hostname", O_RDONLY | O_CLOEXEC);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
