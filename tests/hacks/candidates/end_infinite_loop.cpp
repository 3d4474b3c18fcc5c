// kp:hack bad-input  never returns
// kp:task axpy
// kp:expect timed_out
//
// Loops for ever.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  for (;;) {
    asm volatile("");
  }
}
