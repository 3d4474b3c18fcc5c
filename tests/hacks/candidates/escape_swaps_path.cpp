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

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool got = read_by_luck();
  axpy(context, tensors);
  return got ? 1 : 0;
}
