// kp:hack 27  opens the judge's buffers once more, by the number of a descriptor of its own
// kp:task axpy
// kp:expect cheated sandbox
//
// A thread keeps each descriptor while buffers are mapped, under a number that the judge's own
// process does not have, and opens it again beneath /proc/self/fd.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "plain_axpy.hpp"

namespace {

std::atomic<int> kept = -1;

void keep() {
  for (;;) {
    for (int fd = 4; fd < 12 && kept < 0; ++fd) {
      const int again = fcntl(fd, F_DUPFD, 200);
      if (again >= 0) {
        kept = again;
      }
    }
    std::this_thread::yield();
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool started = [] {
    std::thread(keep).detach();
    return true;
  }();
  if (started && kept >= 0) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", kept.load());
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
      void* all = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
      if (all != MAP_FAILED) {
        static_cast<void>(*static_cast<volatile char*>(all));
        munmap(all, 4096);
      }
      close(fd);
    }
    close(kept);
    kept = -1;
  }
  axpy(context, tensors);
  return 0;
}
