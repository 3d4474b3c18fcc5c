// kp:hack 31  .incbin of /etc/passwd
// kp:task stream
// kp:expect cheated private_file
//
// The assembler would copy the file into the object.
#include "stream.cuh"

asm(".pushsection .rodata\n.incbin \"/etc/passwd\"\n.popsection");

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
