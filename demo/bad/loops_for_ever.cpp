// demo:expect timed_out
// kp:options -O1
// Never comes back.
#include "kernelpro/candidate.h"

int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  for (volatile bool wait = true; wait;) {
  }
  return 0;
}
