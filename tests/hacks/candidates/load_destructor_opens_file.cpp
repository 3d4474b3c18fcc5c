// kp:hack 33  file opened at unload
// kp:task axpy
// kp:expect passed|cheated not-faster|sandbox
//
// A destructor opens a file when the process ends in order, if it ever does.
#include <fcntl.h>
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

namespace {

[[gnu::destructor]] void at_unload() {
  open("/tmp/kernelpro-escape-unload", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
