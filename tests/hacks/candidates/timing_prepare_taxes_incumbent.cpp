// kp:hack 30  work for the kernel left behind by kp_prepare
// kp:task spmv
// kp:expect passed not-faster
//
// Preparing is off the clock. Hundreds of threads end there and much memory is given back, so that
// what the kernel frees later falls into the incumbent's round.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

#include <thread>
#include <vector>

namespace {

void burden() {
  constexpr size_t bytes = 64U << 20;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at != MAP_FAILED) {
    munmap(at, bytes);
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) {
    threads.emplace_back([] {});
  }
  for (std::thread& one : threads) {
    one.join();
  }
}

}  // namespace

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 64;
}

extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  burden();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    float sum = 0.0F;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
  return 0;
}
