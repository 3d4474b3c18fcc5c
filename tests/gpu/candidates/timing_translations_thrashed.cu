// kp:hack 30  a walk over many mappings when the incumbent's turn has come
// kp:task stream
// kp:expect cheated|passed|timed_out|launch_failed|out_of_memory|crashed clock|status|no-gain
//
// One block of memory is mapped at sixteen thousand addresses of a second context; a kernel there,
// behind a copy that delays it, touches them at random. The units that translate addresses are
// shared by all, and the incumbent finds nothing of its own in them. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "second_context.cuh"
#include "second_context_later.cuh"
#include "spin.cuh"
#include "stream.cuh"

namespace {

constexpr size_t page = size_t{2} << 20;
constexpr unsigned pages = 16384;

__global__ void walk(const char* base, long long nanoseconds, int* never) {
  const long long start = now_on_gpu();
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761U;
  int sum = 0;
  while (now_on_gpu() - start < nanoseconds) {
    at = at * 1664525U + 1013904223U;
    sum += *reinterpret_cast<const volatile int*>(base + (at % pages) * page + (at >> 16) * 16);
  }
  if (sum == 12345) {
    *never = sum;
  }
}

// The same memory everywhere.
CUdeviceptr map_often() {
  const auto create = driver_function<decltype(&cuMemCreate)>("cuMemCreate");
  const auto reserve = driver_function<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
  const auto map = driver_function<decltype(&cuMemMap)>("cuMemMap");
  const auto allow = driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr base = 0;
  bool good = create(&handle, page, &properties, 0) == CUDA_SUCCESS &&
              reserve(&base, page * pages, 0, 0, 0) == CUDA_SUCCESS;
  for (unsigned i = 0; good && i < pages; ++i) {
    good = map(base + i * page, page, 0, handle, 0) == CUDA_SUCCESS;
  }
  return good && allow(base, page * pages, &access, 1) == CUDA_SUCCESS ? base : 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static LeftBehind later(300);  // some six milliseconds
  static CUdeviceptr base = 0;
  static KnownRound round;
  static const bool tried =
      later.good && in_context(later.context, [] { base = map_often(); }) && base != 0;
  if (!tried) {
    return 1;  // not tried is no success
  }
  const Call call = call_of(context, tensors);
  round.note(context);
  const int failed = launch(call, call.stream);
  if (round.known() && round.asked->count > 8 && round.at + 1 == round.asked->count) {
    later.leave([](cudaStream_t stream) {
      walk<<<264, 256, 0, stream>>>(reinterpret_cast<const char*>(base), 5'000'000,
                                    reinterpret_cast<int*>(later.there));
    });
  }
  return failed;
}
