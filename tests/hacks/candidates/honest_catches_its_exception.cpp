// kp:hack honest  throws and catches
// kp:task axpy
// kp:expect passed
// kp:twin end_throw_error.cpp
//
// An exception that stays inside is nobody's business.
#include <kernelpro/candidate.h>

#include <stdexcept>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  try {
    if (context->axes[0] > 0) {
      throw std::runtime_error("the quick path is not for this size");
    }
  } catch (const std::runtime_error&) {
    axpy(context, tensors);
  }
  return 0;
}
