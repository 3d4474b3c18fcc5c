// kp:hack 33  exports functions of libc
// kp:task axpy
// kp:expect passed not-faster
//
// Exports memcpy, malloc and pthread_create that break whoever binds to them. It is loaded too
// late for that.
#include <kernelpro/candidate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <cerrno>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" KP_EXPORT void* memcpy(void* to, const void*, size_t) noexcept {
  return to;
}

extern "C" KP_EXPORT void* malloc(size_t) noexcept {
  return nullptr;
}

extern "C" KP_EXPORT int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                                        void*) noexcept {
  return EAGAIN;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
