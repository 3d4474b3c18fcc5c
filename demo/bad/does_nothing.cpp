// demo:expect incorrect: poison
// kp:options -O1
// The fastest kernel there is: it leaves the outputs as it found them, hoping that they still hold
// somebody else's results. They hold poison.
#include "kernelpro/candidate.h"

int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}
