// kp:hack 4  a thread takes the word that lets a round begin
// kp:task stream
// kp:expect cheated|timed_out|crashed|incorrect|launch_failed
//
// Both wait at the same socket. Who has the word first could begin before the runner does; but the
// runner never begins then. Its twin is honest_thread_idle.cu.
#include <sys/socket.h>

#include <thread>

#include "stream.cuh"

namespace {

void take_words() {
  uint32_t word[4096];
  for (;;) {
    if (recv(3, word, sizeof word, 0) <= 0) {
      return;
    }
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::thread* const taker = new std::thread(take_words);
  const Call call = call_of(context, tensors);
  return taker == nullptr ? 1 : launch(call, call.stream);
}
