// kp:hack 33  handles SIGSEGV and goes on
// kp:task axpy
// kp:expect incorrect|crashed|cheated guard|signal|sandbox
//
// Maps a page wherever it faults and goes on, so that it may write past the end of the output.
#include <kernelpro/candidate.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plain_axpy.hpp"

namespace {

void map_here(int, siginfo_t* info, void*) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(info->si_addr) / page * page;
  mmap(reinterpret_cast<void*>(start), page, PROT_READ | PROT_WRITE,
       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  struct sigaction action{};
  action.sa_sigaction = map_here;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  axpy(context, tensors);
  auto* end = static_cast<volatile float*>(tensors[2].data) + context->axes[0];
  for (int i = 0; i < 16; ++i) {
    end[i] = 1.0F;
  }
  return 0;
}
