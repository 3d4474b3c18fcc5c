// kp:hack bad-input  returns with the processor's flags and saved registers changed
// kp:task axpy
// kp:expect crashed|cheated|timed_out signal|channel|exit
//
// The runner's own code goes on with them: copying runs backwards, unaligned accesses fault.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
#if defined(__x86_64__)
  asm volatile(
      "pushfq\n orq $0x40400, (%rsp)\n popfq\n"
      "xor %ebx, %ebx\n xor %r12d, %r12d\n xor %r13d, %r13d\n xor %r14d, %r14d\n xor %r15d, %r15d");
#else
  asm volatile(
      "mov x19, #0\n mov x20, #0\n mov x21, #0\n mov x22, #0\n mov x23, #0\n mov x24, #0\n"
      "mov x25, #0\n mov x26, #0\n mov x27, #0\n mov x28, #0");
#endif
  return 0;
}
