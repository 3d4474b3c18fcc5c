// kp:hack bad-input  jumps out
// kp:task axpy
// kp:expect incorrect|crashed|timed_out
//
// Jumps back into the frame of an earlier call instead of working.
#include <kernelpro/candidate.h>

#include <csetjmp>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  static jmp_buf earlier;
  static bool set = false;
  if (set) {
    std::longjmp(earlier, 1);
  }
  if (setjmp(earlier) == 0) {
    set = true;
  }
  return 0;
}
