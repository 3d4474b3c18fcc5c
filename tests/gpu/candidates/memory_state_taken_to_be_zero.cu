// kp:hack 19  counters in a state that nobody has filled, taken to be zero
// kp:task rows
// kp:expect incorrect|cheated|crashed poison|values
//
// New memory of the driver is zero, that of a caller is not: it would never write an output there.
// What the counters hold behind a call is what they held before it. Its twin is
// honest_state_cleared.cu.
#include "rows.cuh"
#include "split_rows.cuh"

extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}
