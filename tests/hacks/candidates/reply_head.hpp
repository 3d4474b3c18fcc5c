// The runner's reply as it is sent, from its beginning to the number of calls.
#include <cstdint>

namespace {

struct ReplyHead {
  uint32_t kind;
  uint32_t sequence;
  uint32_t status;
  int32_t code;
  int64_t claim_ns;
  uint64_t workspace_bytes;
  uint64_t state_bytes;
  uint64_t fault_address;
  int32_t fault_tensor;
  uint32_t fault_place;
  uint32_t has_prepare;
  uint32_t calls;
};

}  // namespace
