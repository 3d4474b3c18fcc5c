// kp:hack 27  memory of the host taken through the driver, beyond what a runner gets
// kp:task stream
// kp:expect out_of_memory|crashed|timed_out|launch_failed|cheated status|sandbox
//
// Pinned pages are the driver's mappings and no heap: the limit of 8 GiB may not see them. A
// gibibyte in each call until it is refused; stops by itself at 12 GiB, or when a quarter of the
// machine's memory is left, and is right then. Its end gives the memory back.
#include <sys/sysinfo.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int taken = 0;
  struct sysinfo machine{};
  const bool room = sysinfo(&machine) == 0 && machine.freeram > machine.totalram / 4;
  if (taken < 12 && room) {
    void* piece = nullptr;
    if (cudaMallocHost(&piece, size_t{1} << 30) != cudaSuccess) {
      return 1;
    }
    ++taken;
  }
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
