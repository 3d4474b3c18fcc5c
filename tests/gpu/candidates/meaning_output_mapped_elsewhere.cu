// kp:hack 22  the output's address mapped to memory of its own
// kp:task stream
// kp:expect incorrect|crashed|launch_failed|cheated poison|guard|device|status
//
// A process may take the worker's memory off an address of its own and put other memory there: its
// kernel writes what the checks never see, and reads what it wrote from a cache of any size.
#include "driver.cuh"
#include "stream.cuh"

namespace {

bool exchange(float* output) {
  const auto range = driver_function<decltype(&cuMemGetAddressRange)>("cuMemGetAddressRange_v2");
  const auto unmap = driver_function<decltype(&cuMemUnmap)>("cuMemUnmap");
  const auto create = driver_function<decltype(&cuMemCreate)>("cuMemCreate");
  const auto map = driver_function<decltype(&cuMemMap)>("cuMemMap");
  const auto allow = driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUdeviceptr base = 0;
  size_t bytes = 0;
  CUmemGenericAllocationHandle handle = 0;
  return range(&base, &bytes, reinterpret_cast<CUdeviceptr>(output)) == CUDA_SUCCESS &&
         create(&handle, bytes, &properties, 0) == CUDA_SUCCESS &&
         unmap(base, bytes) == CUDA_SUCCESS && map(base, bytes, 0, handle, 0) == CUDA_SUCCESS &&
         allow(base, bytes, &access, 1) == CUDA_SUCCESS;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return exchange(call.y) ? launch(call, call.stream) : 1;
}
