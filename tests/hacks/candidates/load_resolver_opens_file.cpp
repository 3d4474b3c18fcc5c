// kp:hack 33  a resolver of an indirect function opens a file while the object is linked
// kp:task axpy
// kp:expect cheated sandbox
//
// Resolvers run before any constructor, while relocations are applied.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

int real_axpy(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}

// No function of the C library: its entry may not be filled in yet.
long open_raw(const char* path) {
#if defined(__aarch64__)
  register long number __asm__("x8") = SYS_openat;
  register long a0 __asm__("x0") = AT_FDCWD;
  register const char* a1 __asm__("x1") = path;
  register long a2 __asm__("x2") = O_RDONLY;
  __asm__ volatile("svc 0" : "+r"(a0) : "r"(number), "r"(a1), "r"(a2) : "memory");
  return a0;
#else
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(SYS_openat), "D"(AT_FDCWD), "S"(path), "d"(O_RDONLY)
                   : "rcx", "r11", "memory");
  return result;
#endif
}

}  // namespace

extern "C" void* resolve_axpy() {
  open_raw("/etc/passwd");
  return reinterpret_cast<void*>(&real_axpy);
}

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors,
                                   int32_t count) __attribute__((ifunc("resolve_axpy")));
