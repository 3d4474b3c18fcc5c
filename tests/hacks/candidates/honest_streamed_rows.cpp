// kp:hack honest  two passes over each row by vectors and threads
// kp:task layernorm
// kp:expect passed
// kp:twin timing_prepare_warms_inputs.cpp
// kp:options -O3 target openmp
#include "streamed_rows.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  normalize_rows(context, tensors);
  return 0;
}
