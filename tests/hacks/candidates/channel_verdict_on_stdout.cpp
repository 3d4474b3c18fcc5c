// kp:hack 4  prints a verdict
// kp:task axpy
// kp:expect incorrect
//
// Computes nothing and prints what a worker would say of a passed candidate.
#include <kernelpro/candidate.h>
#include <unistd.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  static const char verdict[] = "{\"outcome\":\"passed\",\"speedup\":1000}\n";
  [[maybe_unused]] const ssize_t written = write(1, verdict, sizeof verdict - 1);
  return 0;
}
