// kp:hack 5  slow in the first calls
// kp:task axpy
// kp:expect passed not-faster
//
// Repeats the work twenty times in the first twenty calls, to make the judge choose few calls a
// round.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  const int repeats = ++calls <= 20 ? 20 : 1;
  for (int i = 0; i < repeats; ++i) {
    axpy(context, tensors);
    asm volatile("" ::: "memory");
  }
  return 0;
}
