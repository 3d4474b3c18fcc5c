// kp:hack 27  has the driver write a dump of the GPU, and traps
// kp:task stream
// kp:expect crashed|cheated|launch_failed|timed_out device|sandbox|status|signal|exit
//
// The driver writes the file itself, in a thread of its own, when a kernel fails: no file may
// appear.
#include "driver.cuh"
#include "stream.cuh"

namespace {

__global__ void fail() {
  __trap();
}

// For all contexts, or for this one where it is too late for that.
bool ask_for_dump(const char* by) {
  const auto set = driver_function<CUresult (*)(int, void*, size_t*)>(by);
  if (set == nullptr) {
    return false;
  }
  bool yes = true;
  size_t size = sizeof yes;
  const CUresult enabled = set(CU_COREDUMP_ENABLE_ON_EXCEPTION, &yes, &size);
  char file[] = "/tmp/kernelpro-escape-core";
  size = sizeof file;
  const CUresult named = set(CU_COREDUMP_FILE, file, &size);
  return enabled == CUDA_SUCCESS && named == CUDA_SUCCESS;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (!ask_for_dump("cuCoredumpSetAttributeGlobal") && !ask_for_dump("cuCoredumpSetAttribute")) {
    return 1;
  }
  fail<<<1, 1, 0, call.stream>>>();
  return launch(call, call.stream);
}
