// kp:hack 17  makes an input writable, then writes
// kp:task axpy
// kp:expect crashed|cheated input_write|sandbox
//
// Asks mprotect for write access to x first.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

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
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* data = static_cast<volatile float*>(tensors[0].data);
  auto* start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data) / page * page);
  mprotect(start, page, PROT_READ | PROT_WRITE);
  data[0] = 0;
  axpy(context, tensors);
  return 0;
}
