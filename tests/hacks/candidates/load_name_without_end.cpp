// kp:hack bad-input  a name at an address that is not mapped
// kp:task axpy
// kp:expect crashed signal
#include <kernelpro/candidate.h>

extern "C" const char* kp_implementation(void) {
  return reinterpret_cast<const char*>(64);
}

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}
