// kp:hack 27  a path that no string names: folder by descriptor, name relative to it
// kp:task axpy
// kp:expect cheated sandbox
#include <fcntl.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int folder = open("/usr", O_PATH | O_DIRECTORY);
  const int file = openat(folder, "../etc/passwd", O_RDONLY);
  char text[64];
  if (file >= 0) {
    static_cast<void>(write(1, text, static_cast<size_t>(read(file, text, sizeof text))));
  }
  axpy(context, tensors);
  return 0;
}
