// kp:hack 27  slow without end, and says by threads of its own that it only waits for a processor
// kp:task axpy
// kp:expect passed not-faster
//
// What a candidate waits for a processor is not held against it, and who is 500 times as slow as
// the incumbent would keep the judge for minutes. Sixteen threads keep the one that computes
// waiting.
#include <thread>

#include "plain_axpy.hpp"

namespace {

void turn() {
  for (;;) {
    std::this_thread::yield();
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static bool started = false;
  for (int i = 0; !started && i < 16; ++i) {
    std::thread(turn).detach();
  }
  started = true;
  const int pieces = context->axes[0] > 1000000 ? 400 : 1;
  for (int i = 0; i < pieces; ++i) {
    std::this_thread::yield();
  }
  axpy(context, tensors);
  return 0;
}
