// demo:expect cheated: sandbox
// kp:options -O1
// Starts a second process, which could go on while this one is stopped.
#include <unistd.h>

#include "kernelpro/candidate.h"

int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return fork() < 0 ? 1 : 0;
}
