// kp:hack bad-input  throws an error
// kp:task axpy
// kp:expect crashed exception
//
// Throws a std::runtime_error whose text is no valid UTF-8.
#include <kernelpro/candidate.h>

#include <stdexcept>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  throw std::runtime_error("no \xff\xfe kernel");
}
