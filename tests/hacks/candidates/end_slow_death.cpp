// kp:hack 30  a process that takes long to die
// kp:task axpy
// kp:expect passed|out_of_memory|crashed not-faster
//
// Tens of thousands of mappings and a gigabyte of touched pages: after its death the kernel still
// frees them, beside the incumbent that is then timed alone.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

namespace {

bool bloated = false;

void bloat() {
  constexpr size_t page = 4096;
  for (int i = 0; i < 30000; ++i) {
    // Alternating rights keep neighbors from becoming one mapping.
    void* at = mmap(nullptr, 8 * page, i % 2 == 0 ? PROT_READ | PROT_WRITE : PROT_READ,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) {
      break;
    }
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  if (!bloated) {
    bloated = true;
    bloat();
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
