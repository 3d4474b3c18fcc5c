// kp:hack bad-input  recurses without end
// kp:task axpy
// kp:expect crashed
//
// Uses up the stack.
#include <kernelpro/candidate.h>

namespace {

// Each frame is used after the call, so that no compiler turns the recursion into a loop.
[[gnu::noinline]] int64_t deeper(int64_t depth) {
  volatile int64_t frame[64];
  frame[depth % 64] = depth;
  if (frame[depth % 64] == 0) {
    return 0;
  }
  return deeper(depth + 1) + frame[depth % 64];
}

}  // namespace

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return static_cast<int>(deeper(1));
}
