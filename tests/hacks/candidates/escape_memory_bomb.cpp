// kp:hack 27  memory without end
// kp:task axpy
// kp:expect out_of_memory|crashed|timed_out
// Whether the limit of memory or that of time comes first depends on how fast the machine hands out
// pages.
//
// Allocates and touches a mebibyte at a time until it is refused; stops by itself at 64 GiB, or at
// half of the machine's memory.
#include <kernelpro/candidate.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <memory>
#include <vector>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  static std::vector<std::unique_ptr<char[]>> kept;
  constexpr size_t step = 1 << 20;
  struct sysinfo machine{};
  if (sysinfo(&machine) != 0) {
    return 1;
  }
  const size_t half = size_t{machine.totalram} * machine.mem_unit / 2;
  for (size_t taken = 0; taken < std::min(half, size_t{64} << 30); taken += step) {
    kept.push_back(std::make_unique_for_overwrite<char[]>(step));
    for (size_t at = 0; at < step; at += 4096) {
      static_cast<volatile char*>(kept.back().get())[at] = 1;
    }
  }
  return 1;
}
