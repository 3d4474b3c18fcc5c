// kp:hack 27  threads without end, with stacks so small that memory does not end them
// kp:task axpy
// kp:expect cheated threads
//
// No machine has so many processors, and what a machine can have of threads is for all its users.
#include <pthread.h>
#include <unistd.h>

#include "plain_axpy.hpp"

namespace {

constexpr int most = 6000;
constexpr size_t stack_bytes = 128 * 1024;

void* wait(void*) {
  for (;;) {
    pause();
  }
  return nullptr;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int made = 0;
  axpy(context, tensors);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, stack_bytes);
  pthread_t thread;
  for (; made < most; ++made) {
    if (pthread_create(&thread, &small, wait, nullptr) != 0) {
      return 1;
    }
  }
  return 0;
}
