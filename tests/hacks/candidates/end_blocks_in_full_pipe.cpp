// kp:hack 27  a pipe made blocking again, and filled
// kp:task axpy
// kp:expect timed_out
//
// The pipe for what a candidate prints does not block. Its flags are the candidate's to change:
// then nobody reads, and the write never ends.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  fcntl(STDOUT_FILENO, F_SETFL, 0);
  static char text[1 << 20];
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text, sizeof text);
  axpy(context, tensors);
  return 0;
}
