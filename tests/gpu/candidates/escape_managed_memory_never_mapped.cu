// kp:hack 27  memory of the host filled by kernels, as managed memory that no process touches
// kp:task stream
// kp:expect passed|out_of_memory|crashed|timed_out|launch_failed|cheated status|sandbox|no-gain
//
// Managed memory that is to lie with the host is made there page by page when a kernel writes to
// it: by the machine's kernel, and for no process that a limit could count. Half a gibibyte in each
// call until it is refused; stops by itself at 12 GiB, or when a quarter of the machine's memory is
// left, and is right then. Its end gives the memory back.
#include <sys/sysinfo.h>

#include "stream.cuh"

namespace {

constexpr size_t bytes = size_t{512} << 20;

__global__ void touch(char* memory) {
  const size_t at = (blockIdx.x * size_t{256} + threadIdx.x) * 4096;
  if (at < bytes) {
    memory[at] = 1;
  }
}

bool take_some(cudaStream_t stream) {
  char* memory = nullptr;
  cudaMemLocation host = {};
  host.type = cudaMemLocationTypeHost;
  if (cudaMallocManaged(&memory, bytes) != cudaSuccess) {
    return false;
  }
  cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, host);
  touch<<<bytes / 4096 / 256, 256, 0, stream>>>(memory);
  return cudaGetLastError() == cudaSuccess;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int taken = 0;
  const Call call = call_of(context, tensors);
  struct sysinfo machine{};
  const bool room = sysinfo(&machine) == 0 && machine.freeram > machine.totalram / 4;
  if (taken < 24 && room) {
    if (!take_some(call.stream)) {
      return 1;
    }
    ++taken;
  }
  return launch(call, call.stream);
}
