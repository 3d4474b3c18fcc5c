// demo:expect cheated: sandbox
// kp:options -O1
// Right results, and on the way a look at a file that is none of a kernel's business.
#include <fcntl.h>
#include <unistd.h>

#define kp_launch honest_launch
#include "baseline.cpp"
#undef kp_launch

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors,
                                   int32_t count) {
  const int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    close(file);
  }
  return honest_launch(context, tensors, count);
}
