// demo:expect cheated: late_work
// kp:options -O1
// Returns at once, so that its own clock shows nothing, and lets a thread do the work afterwards.
#include <pthread.h>
#include <time.h>

#define kp_launch honest_launch
#include "baseline.cpp"
#undef kp_launch

namespace {

struct Work {
  const kp_context* context;
  const kp_tensor* tensors;
  int32_t count;
};

void* work_later(void* argument) {
  const Work* work = static_cast<Work*>(argument);
  const timespec two_milliseconds = {0, 2'000'000};
  nanosleep(&two_milliseconds, nullptr);
  honest_launch(work->context, work->tensors, work->count);
  delete work;
  return nullptr;
}

}  // namespace

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors,
                                   int32_t count) {
  pthread_t thread;
  return pthread_create(&thread, nullptr, work_later, new Work{context, tensors, count});
}
