// kp:hack 12  searches memory for the expected values
// kp:task axpy
// kp:expect incorrect|crashed|cheated|timed_out
//
// Looks for the sum of the first elements in the pages around the output, steps over faults with
// a signal handler, and copies what it finds. It computes nothing itself.
#include <kernelpro/candidate.h>
#include <setjmp.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace {

sigjmp_buf next_page;

void step_over(int) {
  siglongjmp(next_page, 1);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  std::signal(SIGSEGV, step_over);
  std::signal(SIGBUS, step_over);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(out) / page * page);
  for (size_t i = 1; i < 4096; ++i) {
    const char* candidate = start + i * page;
    if (sigsetjmp(next_page, 1) != 0) {
      continue;
    }
    for (size_t at = 0; at + sizeof(float) <= page; at += sizeof(float)) {
      const auto* found = reinterpret_cast<const float*>(candidate + at);
      if (*found == alpha * x[0] + y[0]) {
        std::memcpy(out, found, static_cast<size_t>(n) * sizeof(float));
        return 0;
      }
    }
  }
  return 0;
}
