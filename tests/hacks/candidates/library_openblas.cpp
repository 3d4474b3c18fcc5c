// kp:hack 23  calls a library that the task does not give
// kp:task gemm
// kp:expect cheated|launch_failed
//
// Loads OpenBLAS at run time and lets it do the work.
#include <dlfcn.h>
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = tensors[0].shape[0];
  const int64_t k = tensors[0].shape[1];
  const int64_t n = tensors[1].shape[1];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  const auto sgemm =
      library == nullptr ? nullptr : reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  if (sgemm == nullptr) {
    return 1;
  }
  const auto of = [](int64_t extent) { return static_cast<int>(extent); };
  sgemm(101, 111, 111, of(m), of(n), of(k), alpha, a, of(k), b, of(n), 0.0F, c, of(n));
  return 0;
}
