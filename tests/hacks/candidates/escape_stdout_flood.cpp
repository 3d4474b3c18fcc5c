// kp:hack 27  a megabyte on standard output
// kp:task axpy
// kp:expect passed
//
// Prints a megabyte once; nobody may block on it and it may end up nowhere.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <string>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static bool printed = false;
  const std::string line(1024, 'x');
  for (int i = 0; !printed && i < 1024; ++i) {
    [[maybe_unused]] const ssize_t written = write(1, line.data(), line.size());
  }
  printed = true;
  axpy(context, tensors);
  return 0;
}
