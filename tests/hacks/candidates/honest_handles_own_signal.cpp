// kp:hack honest  a signal to itself, with a handler
// kp:task axpy
// kp:expect passed
// kp:twin end_continues_itself.cpp
//
// Tries an instruction at load time as libraries do that look for the abilities of a processor.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <csignal>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

volatile std::sig_atomic_t seen = 0;

void note(int) {
  seen = 1;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool tried = [] {
    const auto before = std::signal(SIGUSR2, note);
    std::raise(SIGUSR2);
    kill(getpid(), SIGUSR2);
    std::signal(SIGUSR2, before);
    return seen == 1;
  }();
  axpy(context, tensors);
  return tried ? 0 : 1;
}
