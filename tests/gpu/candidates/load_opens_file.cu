// kp:hack 33  a constructor reads a file
// kp:task stream
// kp:expect cheated sandbox
//
// The filter stands before the candidate is loaded.
#include <fcntl.h>
#include <unistd.h>

#include "stream.cuh"

namespace {

struct AtLoad {
  AtLoad() {
    const int file = open("/etc/passwd", O_RDONLY);
    if (file >= 0) {
      close(file);
    }
  }
} at_load;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
