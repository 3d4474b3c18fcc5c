// kp:hack bad-input  null pointer
// kp:task axpy
// kp:expect crashed
//
// Writes through a null pointer.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  volatile uintptr_t nowhere = 0;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
  return 0;
}
