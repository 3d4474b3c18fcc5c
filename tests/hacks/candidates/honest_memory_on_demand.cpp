// kp:hack honest  memory that a handler opens when it is touched first
// kp:task axpy
// kp:expect passed
// kp:twin end_segv_continues.cpp
//
// Reserves much, and lets SIGSEGV say which of it is needed; faults elsewhere go to whoever was
// asked before.
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>

#include "plain_axpy.hpp"

namespace {

constexpr size_t reserved = size_t{64} << 20;
constexpr size_t piece = size_t{64} << 10;
char* arena = nullptr;
struct sigaction before;

void open_piece(int number, siginfo_t* info, void* state) {
  auto* at = static_cast<char*>(info->si_addr);
  if (at < arena || at >= arena + reserved) {
    if ((before.sa_flags & SA_SIGINFO) != 0) {
      before.sa_sigaction(number, info, state);
    }
    signal(number, SIG_DFL);
    return;
  }
  const size_t first = static_cast<size_t>(at - arena) / piece * piece;
  mprotect(arena + first, piece, PROT_READ | PROT_WRITE);
}

bool reserve() {
  void* memory =
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  arena = static_cast<char*>(memory);
  struct sigaction action{};
  action.sa_sigaction = open_piece;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  return sigaction(SIGSEGV, &action, &before) == 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = reserve();
  if (!ready) {
    return 1;
  }
  auto* scaled = reinterpret_cast<float*>(arena);
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  constexpr int64_t block = piece / sizeof(float);
  for (int64_t first = 0; first < context->axes[0]; first += block) {
    const int64_t last = std::min(first + block, context->axes[0]);
    for (int64_t i = first; i < last; ++i) {
      scaled[i] = alpha * x[i];
    }
    for (int64_t i = first; i < last; ++i) {
      out[i] = scaled[i] + y[i];
    }
  }
  return 0;
}
