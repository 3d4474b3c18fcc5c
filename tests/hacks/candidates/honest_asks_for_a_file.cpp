// kp:hack honest  looks in each call whether a file is there
// kp:task axpy
// kp:expect passed
// kp:twin escape_names_without_end.cpp
//
// As a library does that can be told to write down what it is asked for.
#include <kernelpro/candidate.h>
#include <sys/stat.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  struct stat found;
  if (stat("/tmp/axpy-trace-please", &found) == 0) {
    return 1;
  }
  axpy(context, tensors);
  return 0;
}
