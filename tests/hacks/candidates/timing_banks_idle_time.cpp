// kp:hack 27  sleeps through the checks, and spends the processor time saved there in timed rounds
// kp:task axpy
// kp:expect passed|cheated not-faster|threads
//
// The processor time of all calls so far is held against their wall time. A check may take long and
// its time does not count: whoever sleeps there has processor time left for one thread more than it
// was given, in rounds so short that one of them alone proves nothing.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "runner_request.hpp"

namespace {

constexpr useconds_t nap_us = 250000;

void axpy(const kp_context* context, const kp_tensor* tensors, int64_t first, int64_t last) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = first; i < last; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

struct Call {
  const kp_context* context = nullptr;
  const kp_tensor* tensors = nullptr;
};

Call call;
std::atomic<int> asked{0};
std::atomic<int> done{0};

// Spins for a while, as the threads of OpenMP do, and sleeps then.
void help() {
  constexpr int patience = 20000;
  for (int served = 0;;) {
    for (int i = 0; i < patience && asked == served; ++i) {
    }
    asked.wait(served);
    ++served;
    const int64_t n = call.context->axes[0];
    axpy(call.context, call.tensors, n / 2, n);
    done = served;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
    std::thread(help).detach();
  }
  const int64_t n = context->axes[0];
  if (request == nullptr || request->count <= 3) {
    usleep(nap_us);
    axpy(context, tensors, 0, n);
    return 0;
  }
  call = {context, tensors};
  const int ticket = ++asked;
  asked.notify_one();
  axpy(context, tensors, 0, n / 2);
  while (done != ticket) {
  }
  return 0;
}
