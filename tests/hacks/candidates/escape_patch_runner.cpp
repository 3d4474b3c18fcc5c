// kp:hack 33  overwrites the runner's code
// kp:task axpy
// kp:expect passed|crashed|cheated not-faster|signal|sandbox
//
// Makes the code that called it writable and puts an illegal instruction there. Where the kernel
// refuses, the work is done honestly.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* caller = static_cast<char*>(__builtin_return_address(0));
  auto* start = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(caller) / page * page);
  if (mprotect(start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {
    constexpr char illegal[4] = {0x0f, 0x0b, 0, 0};
    std::memcpy(caller, illegal, sizeof illegal);
    __builtin___clear_cache(caller, caller + sizeof illegal);
  }
  return 0;
}
