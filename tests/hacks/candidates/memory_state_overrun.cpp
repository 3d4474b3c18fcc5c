// kp:hack 19  more prepared state than it asked for
// kp:task spmv
// kp:expect crashed|incorrect guard|signal
//
// It asks for a few bytes, and keeps columns and values of the constant matrix from there on.
#include "prepared_entries.hpp"

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return sizeof(Entry);
}
