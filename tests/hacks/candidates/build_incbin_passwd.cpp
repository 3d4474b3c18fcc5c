// kp:hack 31  .incbin of /etc/passwd
// kp:task axpy
// kp:expect cheated private_file
//
// The assembler copies the file into the object.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

asm(".pushsection .rodata\nkp_stolen:\n.incbin \"/etc/passwd\"\n.popsection");

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
