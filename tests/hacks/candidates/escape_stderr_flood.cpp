// kp:hack 27  a megabyte on standard error
// kp:task axpy
// kp:expect passed
//
// Prints a megabyte of bytes that are no text once; nobody may block on it.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <string>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static bool printed = false;
  const std::string line(1024, '\xff');
  for (int i = 0; !printed && i < 1024; ++i) {
    [[maybe_unused]] const ssize_t written = write(2, line.data(), line.size());
  }
  printed = true;
  axpy(context, tensors);
  return 0;
}
