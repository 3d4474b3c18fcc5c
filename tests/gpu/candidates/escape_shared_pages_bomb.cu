// kp:hack 27  memory of the host taken as shared pages without a name, beyond what a runner gets
// kp:task stream
// kp:expect out_of_memory|crashed|timed_out|launch_failed|cheated status|sandbox
//
// The limit on data counts private pages alone. Half a gibibyte is mapped and touched in each call
// until it is refused; stops by itself at 12 GiB, or when a quarter of the machine's memory is
// left, and is right then. Its end gives the memory back.
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr size_t piece = size_t{1} << 29;
  static int taken = 0;
  struct sysinfo machine{};
  const bool room = sysinfo(&machine) == 0 && machine.freeram > machine.totalram / 4;
  if (taken < 24 && room) {
    void* pages = mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
      return 1;
    }
    for (size_t at = 0; at < piece; at += 4096) {
      static_cast<volatile char*>(pages)[at] = 1;
    }
    ++taken;
  }
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
