// kp:hack 27  reads the worker's memory
// kp:task axpy
// kp:expect cheated sandbox
//
// Copies a page of the worker with process_vm_readv.
#include <kernelpro/candidate.h>
#include <sys/uio.h>
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
  char stolen[64];
  const iovec here{stolen, sizeof stolen};
  const iovec there{tensors[2].data, sizeof stolen};
  process_vm_readv(getppid(), &here, 1, &there, 1, 0);
  axpy(context, tensors);
  return 0;
}
