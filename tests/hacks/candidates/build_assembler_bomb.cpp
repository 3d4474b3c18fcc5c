// kp:hack bad-input  the assembler is asked for more than the disk holds
// kp:task axpy
// kp:expect build_failed
//
// Sixteen gigabytes of zeros in the object file, one directive.
#include <kernelpro/candidate.h>

__asm__(".data\n.rept 1000000000\n.quad 0, 1\n.endr\n.text\n");

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}
