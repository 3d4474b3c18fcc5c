// kp:hack 27  reads its own memory map
// kp:task axpy
// kp:expect passed
//
// Looks for the judge's buffers in /proc/self/maps, and is right only where it may not see them.
// Runtimes look there for their stacks, so it is refused and not accused.
#include <kernelpro/candidate.h>

#include <cstdio>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (std::FILE* maps = std::fopen("/proc/self/maps", "re"); maps != nullptr) {
    std::fclose(maps);
    return 0;
  }
  axpy(context, tensors);
  return 0;
}
