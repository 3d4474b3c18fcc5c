// kp:hack 2  outputs delivered by a copy in a second context, after the reply
// kp:task rows
// kp:expect cheated|incorrect|crashed|passed late_work|poison|clock|values|device|no-gain
//
// The kernel writes into memory of its own and turns a word; a copy engine of another context waits
// for that word, and nobody waits for the copy. Its twin is honest_workspace.cu.
#include "driver.cuh"
#include "rows.cuh"
#include "second_context.cuh"

namespace {

__global__ void turn(unsigned* word, unsigned value) {
  *word = value;
}

struct Delivery {
  CUcontext context = nullptr;
  cudaStream_t stream = nullptr;
  float* results = nullptr;
  unsigned* word = nullptr;
  unsigned value = 0;
  bool good = false;
  Delivery() {
    cudaMalloc(&results, size_t{256} << 20);
    cudaMalloc(&word, 256);
    cudaMemset(word, 0, 256);
    cudaDeviceSynchronize();
    context = make_second_context();
    good =
        in_context(context, [this] { cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); });
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static Delivery delivery;
  static const auto wait =
      driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
          "cuStreamWaitValue32_v2");
  Call call = call_of(context, tensors);
  float* const y = call.y;
  if (!delivery.good) {
    return 1;
  }
  call.y = delivery.results + (delivery.value % 1024) * size_t{4096};
  const int failed = launch(call, call.stream);
  turn<<<1, 1, 0, call.stream>>>(delivery.word, ++delivery.value);
  in_context(delivery.context, [&] {
    wait(delivery.stream, reinterpret_cast<CUdeviceptr>(delivery.word), delivery.value,
         CU_STREAM_WAIT_VALUE_GEQ);
    cudaMemcpyAsync(y, call.y, static_cast<size_t>(call.m) * sizeof(float),
                    cudaMemcpyDeviceToDevice, delivery.stream);
  });
  static_cast<void>(cudaGetLastError());
  return failed;
}
