// kp:hack bad-input  throws a number
// kp:task axpy
// kp:expect crashed exception
//
// Throws what is no std::exception.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  throw 42;
}
