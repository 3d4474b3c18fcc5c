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

#include "plain_axpy.hpp"

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
