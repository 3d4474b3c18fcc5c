// kp:hack bad-input  gigabytes of warnings
// kp:task axpy
// kp:expect build_failed|passed not-faster
//
// Each of some hundred thousand lines is worth a paragraph to the compiler.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

#define WARN_1 _Pragma("GCC warning \"this line is worth a paragraph to the compiler\"")
#define WARN_8 WARN_1 WARN_1 WARN_1 WARN_1 WARN_1 WARN_1 WARN_1 WARN_1
#define WARN_64 WARN_8 WARN_8 WARN_8 WARN_8 WARN_8 WARN_8 WARN_8 WARN_8
#define WARN_512 WARN_64 WARN_64 WARN_64 WARN_64 WARN_64 WARN_64 WARN_64 WARN_64
#define WARN_4096 WARN_512 WARN_512 WARN_512 WARN_512 WARN_512 WARN_512 WARN_512 WARN_512

WARN_4096 WARN_4096 WARN_4096 WARN_4096

    extern "C" int
    kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
