// kp:hack 27  every call takes nearly as long as a call may
// kp:task axpy
// kp:expect timed_out
//
// No single wait is too long. All of them together would keep the machine's lock for minutes.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  usleep(1'850'000);
  return 0;
}
