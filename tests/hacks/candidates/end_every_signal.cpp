// kp:hack 27  raises every signal
// kp:task axpy
// kp:expect crashed
//
// Sends itself every signal there is, one after the other.
#include <kernelpro/candidate.h>

#include <csignal>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    std::raise(signal);
  }
  return 0;
}
