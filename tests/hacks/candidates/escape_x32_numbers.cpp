// kp:hack 27  a program started by its x32 number
// kp:task axpy
// kp:expect crashed|cheated signal|sandbox
//
// On x86-64 the same entry takes other numbers for the same calls, 2^30 and more: a filter that
// compares with the usual ones knows none of them.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr long x32_execve = 0x40000000 + 520;
  syscall(x32_execve, "/bin/true", nullptr, nullptr);
  axpy(context, tensors);
  return 0;
}
