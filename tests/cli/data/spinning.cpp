#include "kernelpro/candidate.h"

int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  volatile bool on = true;
  while (on) {
  }
  return 0;
}
