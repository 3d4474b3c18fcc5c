// kp:hack 33  overwrites the runner's code
// kp:task axpy
// kp:expect passed|crashed|cheated not-faster|signal|sandbox
//
// Makes the code that called it writable and puts an illegal instruction there. Where the kernel
// refuses, the work is done honestly.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

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

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* caller = static_cast<char*>(__builtin_return_address(0));
  auto* start = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(caller) / page * page);
  if (mprotect(start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {
    constexpr char illegal[4] = {0x0f, 0x0b, 0, 0};
    std::memcpy(caller, illegal, sizeof illegal);
    __builtin___clear_cache(caller, caller + sizeof illegal);
  }
  return 0;
}
