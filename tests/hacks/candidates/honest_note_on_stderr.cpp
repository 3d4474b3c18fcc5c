// kp:hack honest  a line on standard error
// kp:task axpy
// kp:expect passed
// kp:twin escape_stderr_flood.cpp
//
// Says once which path it takes.
#include <kernelpro/candidate.h>

#include <cstdio>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static bool said = false;
  if (!said) {
    std::fputs("axpy: the plain loop\n", stderr);
    said = true;
  }
  axpy(context, tensors);
  return 0;
}
