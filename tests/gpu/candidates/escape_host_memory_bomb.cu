// kp:hack 27  memory of the host without end
// kp:task stream
// kp:expect out_of_memory|crashed|timed_out
//
// Allocates and touches a mebibyte at a time until it is refused; stops by itself at 64 GiB, or
// when the machine has a tenth of its memory left.
#include <kernelpro/candidate.h>
#include <sys/sysinfo.h>

#include <memory>
#include <vector>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  static std::vector<std::unique_ptr<char[]>> kept;
  constexpr size_t step = 1 << 20;
  for (int i = 0; i < 64 * 1024; ++i) {
    struct sysinfo machine{};
    if (sysinfo(&machine) != 0 || machine.freeram < machine.totalram / 10) {
      return 1;
    }
    kept.emplace_back(new char[step]);
    for (size_t at = 0; at < step; at += 4096) {
      static_cast<volatile char*>(kept.back().get())[at] = 1;
    }
  }
  return 1;
}
