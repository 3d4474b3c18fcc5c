// kp:hack 27  runs another program
// kp:task axpy
// kp:expect cheated sandbox
//
// Replaces the runner by another program.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  execv("/bin/true", arguments);
  axpy(context, tensors);
  return 0;
}
