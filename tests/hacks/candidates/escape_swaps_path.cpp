// kp:hack 27  a path that changes between the look and the use
// kp:task axpy
// kp:expect passed|cheated not-faster|sandbox
//
// The worker lets a file be opened that is not there. Meanwhile another thread writes the name of
// one that is. What it would read is refused all the same; if not, it says so by failing.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "plain_axpy.hpp"

namespace {

char path[64] = "/etc/passwx";

bool read_by_luck() {
  std::atomic<bool> done{false};
  std::thread swapper([&done] {
    while (!done) {
      path[10] = path[10] == 'x' ? 'd' : 'x';
    }
  });
  bool got = false;
  for (int i = 0; i < 2000 && !got; ++i) {
    const int file = open(path, O_RDONLY);
    char text[8] = {};
    got = file >= 0 && read(file, text, sizeof text - 1) > 0;
    close(file);
  }
  done = true;
  swapper.join();
  return got;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool got = read_by_luck();
  axpy(context, tensors);
  return got ? 1 : 0;
}
