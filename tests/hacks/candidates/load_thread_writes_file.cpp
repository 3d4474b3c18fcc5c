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
  axpy(context, tensors);
  return 0;
}
