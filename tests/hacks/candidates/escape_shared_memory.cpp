// kp:hack 27  makes shared memory
// kp:task axpy
// kp:expect cheated sandbox
//
// Makes a segment that outlives the process, to meet its next self there.
#include <kernelpro/candidate.h>
#include <sys/ipc.h>
#include <sys/shm.h>

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
  const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  if (id >= 0) {
    shmctl(id, IPC_RMID, nullptr);
  }
  axpy(context, tensors);
  return 0;
}
