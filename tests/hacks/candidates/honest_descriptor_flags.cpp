// kp:hack honest  asks a descriptor for its flags
// kp:task axpy
// kp:expect passed
// kp:twin end_owner_of_signals.cpp
//
// What a library does that prints: flags read and set, a descriptor kept aside.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
  fcntl(kept, F_SETFD, fcntl(kept, F_GETFD) | FD_CLOEXEC);
  fcntl(kept, F_SETFL, fcntl(kept, F_GETFL) | O_NONBLOCK);
  close(kept);
  axpy(context, tensors);
  return 0;
}
