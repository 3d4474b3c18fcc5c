// kp:hack bad-input  implementation name that is no text
// kp:task axpy
// kp:expect passed
//
// Names itself with bytes that are no UTF-8, longer than the reply has room for.
#include <kernelpro/candidate.h>

#include <string>

#include "plain_axpy.hpp"

extern "C" const char* kp_implementation(void) {
  static const std::string name(2000, '\xff');
  return name.c_str();
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
