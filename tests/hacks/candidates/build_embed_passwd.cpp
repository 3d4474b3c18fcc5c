// kp:hack 31  embeds /etc/passwd
// kp:task axpy
// kp:expect cheated private_file
// kp:compiler clang++-19
//
// The preprocessor makes an array of the file, which the kernel could print.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

constexpr unsigned char stolen[] = {
#embed "/etc/passwd"
};

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  [[maybe_unused]] const volatile unsigned char first = stolen[0];
  axpy(context, tensors);
  return 0;
}
