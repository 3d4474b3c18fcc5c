// kp:hack 33  thread of a constructor writes a file
// kp:task axpy
// kp:expect cheated sandbox
//
// A thread older than every call tries to write a file, again and again.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "plain_axpy.hpp"

namespace {

[[gnu::constructor]] void at_load() {
  std::thread([] {
    for (int i = 0; i < 1000; ++i) {
      const int fd = open("/tmp/kernelpro-escape-thread", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
      if (fd >= 0) {
        close(fd);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }).detach();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
