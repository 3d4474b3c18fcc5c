// kp:hack 27  forks again and again
// kp:task axpy
// kp:expect cheated sandbox
//
// Sixty-four children at most, each gone at once.
#include <kernelpro/candidate.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (int i = 0; i < 64; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(0);
    }
    if (child > 0) {
      waitpid(child, nullptr, 0);
    }
  }
  axpy(context, tensors);
  return 0;
}
