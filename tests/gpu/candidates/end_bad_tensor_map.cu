// kp:hack bad-input  descriptors of tensors with a bit turned, given to the copy unit
// kp:task stream
// kp:expect crashed|timed_out|incorrect|launch_failed|passed no-gain
//
// The unit takes address, extents and strides from 128 bytes that the driver made; another bit in
// each call makes them point anywhere. What it fetches is not used. Its twin is the baseline.
#include <cstring>

#include "driver.cuh"
#include "stream.cuh"

namespace {

constexpr unsigned box = 64;

__global__ void fetch(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) float tile[box];
  __shared__ alignas(8) uint64_t barrier;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(box * 4));
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2}], [%3];" ::"r"(to),
      "l"(&map), "r"(0), "r"(at)
      : "memory");
  for (int tries = 0; tries < 1000; ++tries) {
    unsigned done = 0;
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(at));
    if (done != 0) {
      return;
    }
  }
}

bool turn_and_fetch(const Call& call) {
  static const auto encode =
      driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  static unsigned turned = 0;
  CUtensorMap map = {};
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(call.n)};
  const cuuint64_t strides[] = {0};
  const cuuint32_t boxes[] = {box};
  const cuuint32_t steps[] = {1};
  if (encode == nullptr ||
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, const_cast<float*>(call.x), extents, strides,
             boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    return false;
  }
  unsigned char bytes[sizeof map];
  std::memcpy(bytes, &map, sizeof map);
  // From the back: flags and extents first, the address last.
  const unsigned bit = 8 * sizeof map - 1 - turned++ % (8 * sizeof map);
  bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
  std::memcpy(&map, bytes, sizeof map);
  fetch<<<1, 1, 0, call.stream>>>(map);
  return cudaGetLastError() == cudaSuccess;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (call.n > 5000 && !turn_and_fetch(call)) {
    return 1;
  }
  return launch(call, call.stream);
}
