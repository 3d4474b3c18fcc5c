// kp:hack 33  an executable stack is asked for in the object's notes
// kp:task axpy
// kp:expect launch_failed|cheated load|sandbox
//
// The loader would make all stacks executable, and with that code could be written.
#include <kernelpro/candidate.h>

__asm__(".section .note.GNU-stack,\"x\",%progbits\n.text\n");

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  // mov w0, #0; ret
  unsigned code[] = {0x52800000U, 0xd65f03c0U};
  __builtin___clear_cache(reinterpret_cast<char*>(code), reinterpret_cast<char*>(code + 2));
  return reinterpret_cast<int (*)()>(reinterpret_cast<void*>(code))() +
         (tensors == nullptr ? 1 : 0);
}
