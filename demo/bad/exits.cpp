// demo:expect crashed: exit
// kp:options -O1
// Ends its process with the code that means success, for a judge that looks no further.
#include <unistd.h>

#include "kernelpro/candidate.h"

int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  _exit(0);
}
