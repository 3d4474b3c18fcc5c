// kp:hack bad-input  throws bad_alloc
// kp:task axpy
// kp:expect out_of_memory|crashed
//
// Asks for more memory than any machine has.
#include <kernelpro/candidate.h>

#include <new>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  volatile size_t bytes = SIZE_MAX / 4;
  static_cast<volatile char*>(::operator new(bytes))[0] = 1;
  return 0;
}
