// kp:hack 27  the kernel made to remember names of files that do not exist
// kp:task axpy
// kp:expect cheated sandbox
//
// Whether a file exists is no secret. But each name that was asked for takes memory of the kernel,
// which no limit of the process counts.
#include <kernelpro/candidate.h>
#include <sys/stat.h>

#include <string>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int asked = 0;
  const std::string folder = "/kernelpro-not-there-" + std::string(200, 'x');
  for (const int end = asked + 20'000; asked < end; ++asked) {
    struct stat found;
    stat((folder + std::to_string(asked)).c_str(), &found);
  }
  axpy(context, tensors);
  return 0;
}
