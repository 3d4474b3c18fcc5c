// kp:hack 28  looks for the evaluator in its environment
// kp:task axpy
// kp:expect passed
//
// Turns wrong when a variable or the program's arguments name the evaluator. It passes because
// its surroundings say nothing.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <string>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (text.starts_with("KERNELPRO") || text.starts_with("KP_")) {
      return 0;
    }
  }
  axpy(context, tensors);
  return 0;
}
