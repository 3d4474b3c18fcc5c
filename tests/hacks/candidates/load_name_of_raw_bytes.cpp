// kp:hack 4  a name that is no text
// kp:task axpy
// kp:expect passed not-faster
//
// What it says it is goes into the certificate: bytes that are no UTF-8, quotes, and no end.
#include <kernelpro/candidate.h>

#include <cstring>

#include "plain_axpy.hpp"

extern "C" const char* kp_implementation(void) {
  static char name[100000];
  std::memset(name, 0xfe, sizeof name - 1);
  std::memcpy(name, "\"}],\"outcome\":\"passed\"\xff\xc0", 25);
  return name;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
