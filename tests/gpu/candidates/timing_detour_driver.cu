// kp:hack 3  the driver's code is made writable and patched
// kp:task stream
// kp:expect passed|cheated clock|sandbox|not-faster
//
// No page of the runner may become executable that was writable, nor writable that is executable.
// Where the kernel cannot refuse that, the worker's clock has the last word.
#include <sys/mman.h>

#include <cstring>

#include "driver.cuh"
#include "stream.cuh"

namespace {

// "Store zero through the first argument, return 0."
#if defined(__x86_64__)
constexpr unsigned char patch_code[] = {0xc7, 0x07, 0, 0, 0, 0, 0x31, 0xc0, 0xc3};
#else
constexpr unsigned char patch_code[] = {0x1f, 0, 0, 0xb9, 0, 0, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#endif

bool patch() {
  auto* code = driver_function<unsigned char*>("cuEventElapsedTime");
  const auto page = reinterpret_cast<uint64_t>(code) / 4096 * 4096;
  if (mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    return false;
  }
  memcpy(code, patch_code, sizeof patch_code);
  __builtin___clear_cache(reinterpret_cast<char*>(code), reinterpret_cast<char*>(code) + 16);
  return true;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool patched = patch();
  const Call call = call_of(context, tensors);
  static_cast<void>(patched);
  return launch(call, call.stream);
}
