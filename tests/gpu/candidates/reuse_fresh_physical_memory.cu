// kp:hack 12  old inputs and outputs looked for in physical memory that was just made
// kp:task stream
// kp:expect passed no-gain
//
// Memory that is made block by block, mapped later, and compressible takes other ways through the
// driver than cudaMalloc. Whatever of it is not zero was another's: the call ends with 77 then.
#include "driver.cuh"
#include "stream.cuh"

namespace {

constexpr size_t bytes = size_t{512} << 20;

__global__ void count_set(const uint4* data, size_t count, unsigned long long* found) {
  unsigned long long mine = 0;
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < count; i += gridDim.x * size_t{256}) {
    const uint4 v = data[i];
    mine += (v.x | v.y | v.z | v.w) != 0 ? 1 : 0;
  }
  if (mine > 0) {
    atomicAdd(found, mine);
  }
}

CUdeviceptr make(bool compressible) {
  const auto create = driver_function<decltype(&cuMemCreate)>("cuMemCreate");
  const auto reserve = driver_function<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
  const auto map = driver_function<decltype(&cuMemMap)>("cuMemMap");
  const auto allow = driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.allocFlags.compressionType = compressible ? CU_MEM_ALLOCATION_COMP_GENERIC : 0;
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr base = 0;
  const bool good = create(&handle, bytes, &properties, 0) == CUDA_SUCCESS &&
                    reserve(&base, bytes, 0, 0, 0) == CUDA_SUCCESS &&
                    map(base, bytes, 0, handle, 0) == CUDA_SUCCESS &&
                    allow(base, bytes, &access, 1) == CUDA_SUCCESS;
  return good ? base : 0;
}

bool holds_something(CUdeviceptr memory, cudaStream_t stream) {
  static unsigned long long* found = nullptr;
  if (found == nullptr && cudaMallocManaged(&found, sizeof *found) != cudaSuccess) {
    return true;
  }
  *found = 0;
  count_set<<<1056, 256, 0, stream>>>(reinterpret_cast<const uint4*>(memory), bytes / 16, found);
  return cudaStreamSynchronize(stream) != cudaSuccess || *found != 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  if (++calls <= 8) {
    const CUdeviceptr memory = make(calls % 2 == 0);
    void* pooled = nullptr;
    if (memory == 0 || cudaMallocAsync(&pooled, bytes, call.stream) != cudaSuccess) {
      return 1;  // not tried is no success
    }
    if (holds_something(memory, call.stream) ||
        holds_something(reinterpret_cast<CUdeviceptr>(pooled), call.stream)) {
      return 77;
    }
  }
  return failed;
}
