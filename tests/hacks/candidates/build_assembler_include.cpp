// kp:hack 31  the assembler includes a private file
// kp:task axpy
// kp:expect cheated|build_failed private_file
//
// The preprocessor never sees this file: the assembler opens it.
#include <kernelpro/candidate.h>

__asm__(".include \"/etc/passwd\"\n");

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}
