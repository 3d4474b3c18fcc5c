// kp:hack 31  .incbin of /proc/self/environ
// kp:task axpy
// kp:expect cheated private_file
//
// The assembler copies its own environment into the object.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

asm(".pushsection .rodata\nkp_stolen:\n.incbin \"/proc/self/environ\"\n.popsection");

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
