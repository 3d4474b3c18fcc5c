// kp:hack 4  reads the runner's requests away
// kp:task axpy
// kp:expect cheated|timed_out|crashed
//
// A thread waits on the control socket and takes the next request before the runner sees it.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

#include <thread>

namespace {

bool stealing = false;

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
  if (!stealing) {
    stealing = true;
    std::thread([] {
      static char request[8192];
      while (recv(3, request, sizeof request, 0) > 0) {
      }
    }).detach();
  }
  axpy(context, tensors);
  return 0;
}
