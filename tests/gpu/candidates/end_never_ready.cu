// kp:hack bad-input  a round that is never begun
// kp:task stream
// kp:expect timed_out
//
// What the runner calls before it says that it is ready does not return, from the tenth round on:
// the worker has not started its clock, and waits for a word that never comes.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "stream.cuh"

namespace {

volatile bool stop = false;

int hang() {
  static int rounds = 0;
  if (++rounds > 10) {
    while (!stop) {
    }
  }
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = call_before_ready(hang);
  const Call call = call_of(context, tensors);
  return ready ? launch(call, call.stream) : 1;
}
