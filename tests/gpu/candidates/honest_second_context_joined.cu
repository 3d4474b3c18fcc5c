// kp:hack honest  work in a second context, behind the given stream and before it
// kp:task rows
// kp:expect passed
// kp:twin timing_single_in_second_context.cu
//
// Joined by words of memory that streams write and wait for. Each call costs two turns on the GPU.
#include "driver.cuh"
#include "rows.cuh"
#include "second_context.cuh"

namespace {

struct Other {
  CUcontext context = nullptr;
  cudaStream_t stream = nullptr;
  uint32_t* words = nullptr;  // asked for, done
  uint32_t number = 0;
  bool good = false;
  Other() {
    good = cudaMalloc(&words, 256) == cudaSuccess && cudaMemset(words, 0, 256) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess;
    context = make_second_context();
    good = in_context(context,
                      [this] { cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }) &&
           good && stream != nullptr;
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using MemoryOperation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  static const auto wait = driver_function<MemoryOperation>("cuStreamWaitValue32_v2");
  static const auto write = driver_function<MemoryOperation>("cuStreamWriteValue32_v2");
  cudaFree(nullptr);
  static Other other;
  const Call call = call_of(context, tensors);
  if (!other.good || wait == nullptr || write == nullptr) {
    return 1;
  }
  const auto asked = reinterpret_cast<CUdeviceptr>(other.words);
  const auto done = reinterpret_cast<CUdeviceptr>(other.words + 16);
  const uint32_t number = ++other.number;
  bool good = write(call.stream, asked, number, 0) == CUDA_SUCCESS;
  int failed = 1;
  in_context(other.context, [&] {
    good = good && wait(other.stream, asked, number, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
    failed = launch(call, other.stream);
    good = good && write(other.stream, done, number, 0) == CUDA_SUCCESS;
  });
  good = good && wait(call.stream, done, number, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
  return good ? failed : 1;
}
