// kp:hack 30  locks on every descriptor that is open, so that the driver waits elsewhere
// kp:task stream
// kp:expect passed|cheated|timed_out|launch_failed sandbox|status|no-gain
//
// The driver may lock files of its own, so the filter lets locks through, and device files are one
// file for all processes. They are held until it ends.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "stream.cuh"

namespace {

bool lock_all() {
  for (int fd = 4; fd < 4096; ++fd) {
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    flock(fd, LOCK_EX | LOCK_NB);
    fcntl(fd, F_OFD_SETLK, &whole);
    fcntl(fd, F_SETLK, &whole);
  }
  return true;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool locked = lock_all();
  const Call call = call_of(context, tensors);
  return locked ? launch(call, call.stream) : 1;
}
