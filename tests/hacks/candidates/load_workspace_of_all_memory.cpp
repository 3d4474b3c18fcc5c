// kp:hack bad-input  asks for as much workspace as there is memory
// kp:task axpy
// kp:expect out_of_memory
//
// Not absurd as a number, but the machine would have to give all its memory for it.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)) -
         (size_t{1} << 30);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
