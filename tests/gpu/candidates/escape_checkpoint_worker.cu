// kp:hack 27  asks the driver to lock the worker's process, as before a checkpoint
// kp:task rows
// kp:expect cheated|launch_failed|passed sandbox|status|no-gain
//
// The driver can stop the CUDA calls of another process, by its number alone. Where that is done it
// is undone at once, and shows as an end that is not expected. Its twin is the baseline.
#include <unistd.h>

#include <cstdlib>

#include "driver.cuh"
#include "rows.cuh"

namespace {

bool lock_worker() {
  const auto lock = driver_function<decltype(&cuCheckpointProcessLock)>("cuCheckpointProcessLock");
  const auto unlock =
      driver_function<decltype(&cuCheckpointProcessUnlock)>("cuCheckpointProcessUnlock");
  CUcheckpointLockArgs how = {};
  how.timeoutMs = 1000;
  if (lock == nullptr || unlock == nullptr) {
    return false;
  }
  if (lock(getppid(), &how) == CUDA_SUCCESS) {
    unlock(getppid(), nullptr);
    std::abort();
  }
  return true;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool tried = lock_worker();
  const Call call = call_of(context, tensors);
  return tried ? launch(call, call.stream) : 1;
}
