// kp:hack bad-input  pthread_exit
// kp:task axpy
// kp:expect crashed|timed_out
//
// Ends the calling thread only, so that nobody is left to answer.
#include <kernelpro/candidate.h>
#include <pthread.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  pthread_exit(nullptr);
}
