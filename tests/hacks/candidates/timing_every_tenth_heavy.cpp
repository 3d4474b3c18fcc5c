// kp:hack 32  a tenth of the calls does ten times the work
// kp:task axpy
// kp:expect passed not-faster
//
// Nine calls in ten are plain and the tenth is ten times slower: a median of calls would not show
// it, the mean of a round does.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  const int repeats = ++calls % 10 == 0 ? 10 : 1;
  for (int i = 0; i < repeats; ++i) {
    axpy(context, tensors);
    asm volatile("" ::: "memory");
  }
  return 0;
}
