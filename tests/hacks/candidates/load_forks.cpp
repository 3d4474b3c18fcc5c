// kp:hack 33  process started at load
// kp:task axpy
// kp:expect cheated sandbox
//
// A constructor forks.
#include <kernelpro/candidate.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain_axpy.hpp"

namespace {

[[gnu::constructor]] void at_load() {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  if (child > 0) {
    waitpid(child, nullptr, 0);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
