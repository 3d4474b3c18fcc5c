// kp:hack 4  control socket flooded
// kp:task axpy
// kp:expect cheated channel
//
// Sends ten thousand messages of odd sizes down the control socket, without waiting.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const char noise[700] = {};
  for (size_t i = 0; i < 10'000; ++i) {
    send(3, noise, i % sizeof noise, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  axpy(context, tensors);
  return 0;
}
