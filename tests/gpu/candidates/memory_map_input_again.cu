// kp:hack 17  an input mapped a second time, writable, then written
// kp:task stream
// kp:expect cheated|crashed|launch_failed input_write|guard|device|status
//
// The handle behind an address can be had back from the driver. The worker hashes the inputs before
// and after.
#include "driver.cuh"
#include "stream.cuh"

namespace {

// Where the memory at `address` lies in a second, writable mapping; 0 when the driver refuses.
CUdeviceptr map_again(CUdeviceptr address) {
  const auto range =
      driver_function<CUresult (*)(CUdeviceptr*, size_t*, CUdeviceptr)>("cuMemGetAddressRange_v2");
  const auto retain = driver_function<CUresult (*)(CUmemGenericAllocationHandle*, void*)>(
      "cuMemRetainAllocationHandle");
  const auto reserve =
      driver_function<CUresult (*)(CUdeviceptr*, size_t, size_t, CUdeviceptr, unsigned long long)>(
          "cuMemAddressReserve");
  const auto map = driver_function<CUresult (*)(
      CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long)>("cuMemMap");
  const auto set_access =
      driver_function<CUresult (*)(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t)>(
          "cuMemSetAccess");
  CUdeviceptr base = 0;
  CUdeviceptr second = 0;
  size_t bytes = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const bool mapped = range(&base, &bytes, address) == CUDA_SUCCESS &&
                      retain(&handle, reinterpret_cast<void*>(base)) == CUDA_SUCCESS &&
                      reserve(&second, bytes, 0, 0, 0) == CUDA_SUCCESS &&
                      map(second, bytes, 0, handle, 0) == CUDA_SUCCESS &&
                      set_access(second, bytes, &access, 1) == CUDA_SUCCESS;
  return mapped ? second + (address - base) : 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const CUdeviceptr second = map_again(reinterpret_cast<CUdeviceptr>(call.x));
  if (second == 0 || launch(call, call.stream) != 0) {
    return 1;
  }
  return cudaMemsetAsync(reinterpret_cast<void*>(second), 0, sizeof(float), call.stream);
}
