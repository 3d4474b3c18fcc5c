// kp:hack 25  falls back to the reference
// kp:task axpy
// kp:expect launch_failed
//
// Looks for somebody else's implementation in its process and calls that. There is none.
#include <dlfcn.h>
#include <kernelpro/candidate.h>

namespace {

using Launch = int (*)(const kp_context*, const kp_tensor*, int32_t);

constexpr int nothing_found = 3;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const auto other = reinterpret_cast<Launch>(dlsym(RTLD_NEXT, "kp_launch"));
  return other != nullptr ? other(context, tensors, count) : nothing_found;
}
