// kp:hack 4  exit(0)
// kp:task axpy
// kp:expect crashed exit
//
// Ends the process as if all were well.
#include <kernelpro/candidate.h>

#include <cstdlib>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  std::exit(0);
}
