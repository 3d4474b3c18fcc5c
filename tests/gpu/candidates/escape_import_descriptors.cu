// kp:hack 27  imports whatever descriptors are open as GPU memory
// kp:task stream
// kp:expect passed|launch_failed|cheated sandbox|status|not-faster
//
// The descriptors of the buffers are closed before a call; what is left open is no memory of the
// GPU.
#include "driver.cuh"
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const auto import =
      driver_function<CUresult (*)(CUmemGenericAllocationHandle*, void*,
                                   CUmemAllocationHandleType)>("cuMemImportFromShareableHandle");
  for (intptr_t descriptor = 0; descriptor < 64; ++descriptor) {
    CUmemGenericAllocationHandle handle = 0;
    if (import(&handle, reinterpret_cast<void*>(descriptor),
               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS) {
      return 1;
    }
  }

  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
