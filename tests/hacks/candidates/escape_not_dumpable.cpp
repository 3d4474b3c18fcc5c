// kp:hack 33  hides its memory from the worker
// kp:task axpy
// kp:expect cheated sandbox
//
// Becomes undumpable, so that the worker could not read the path of the file it opens next.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <sys/prctl.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  prctl(PR_SET_DUMPABLE, 0);
  open("/etc/hostname", O_RDONLY | O_CLOEXEC);
  axpy(context, tensors);
  return 0;
}
