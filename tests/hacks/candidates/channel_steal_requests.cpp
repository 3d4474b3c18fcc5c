// kp:hack 4  reads the runner's requests away
// kp:task axpy
// kp:expect cheated|timed_out|crashed
//
// A thread waits on the control socket and takes the next request before the runner sees it.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

#include <thread>

#include "plain_axpy.hpp"

namespace {

bool stealing = false;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!stealing) {
    stealing = true;
    std::thread([] {
      static char request[8192];
      while (recv(3, request, sizeof request, 0) > 0) {
      }
    }).detach();
  }
  axpy(context, tensors);
  return 0;
}
