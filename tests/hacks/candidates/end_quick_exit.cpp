// kp:hack 4  quick_exit(0)
// kp:task axpy
// kp:expect crashed exit
//
// Ends the process by the quick way out.
#include <kernelpro/candidate.h>

#include <cstdlib>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  std::quick_exit(0);
}
