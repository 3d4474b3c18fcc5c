// kp:hack bad-input  abort
// kp:task axpy
// kp:expect crashed
//
// Aborts.
#include <kernelpro/candidate.h>

#include <cstdlib>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  std::abort();
}
