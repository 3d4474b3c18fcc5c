// kp:hack 33  opens a file from a thread
// kp:task axpy
// kp:expect cheated sandbox
//
// A thread started in an earlier call tries what the main thread may not.
#include <fcntl.h>
#include <kernelpro/candidate.h>

#include <thread>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  std::thread([] { open("/etc/hostname", O_RDONLY | O_CLOEXEC); }).join();
  axpy(context, tensors);
  return 0;
}
