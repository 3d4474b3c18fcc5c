// kp:hack 33  an address within its code, for which the loader would have to unprotect it
// kp:task axpy
// kp:expect launch_failed|crashed load|signal
//
// The loader makes such code writable, writes into it and makes it executable again: by that way
// there would be code that was writable once.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

asm(".text\n .balign 8\n .quad kp_launch\n");

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
