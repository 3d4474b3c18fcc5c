// kp:hack 27  threads without end
// kp:task axpy
// kp:expect crashed|out_of_memory|cheated
//
// Starts threads that never end, four thousand at most, until the system refuses; if it never
// does, the judge has no limit.
#include <kernelpro/candidate.h>

#include <chrono>
#include <thread>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  for (int i = 0; i < 4096; ++i) {
    std::thread([] {
      for (;;) {
        std::this_thread::sleep_for(std::chrono::hours(1));
      }
    }).detach();
  }
  return 1;
}
