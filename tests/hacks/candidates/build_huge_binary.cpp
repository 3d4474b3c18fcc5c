// kp:hack bad-input  a shared object of 289 MB
// kp:task axpy
// kp:expect build_failed
//
// Nothing but a table of zeros that the object holds byte by byte, to fill the cache of builds.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

__asm__(
    ".pushsection .data.filler,\"aw\"\n"
    ".globl kp_filler\n"
    "kp_filler: .zero 289000000\n"
    ".popsection\n");

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
