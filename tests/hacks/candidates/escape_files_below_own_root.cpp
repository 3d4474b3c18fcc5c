// kp:hack 27  reads a file by a folder that only its own thread has
// kp:task axpy
// kp:expect cheated sandbox
//
// O_PATH is no access to the kernel's rules on files, and whoever looks the folder up in a process
// of its own finds none; then a name within it is asked for, which is none at the root.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/root/etc", gettid());
  const int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    const int file = openat(folder, "passwd", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      char text[16];
      [[maybe_unused]] const ssize_t got = read(file, text, sizeof text);
      close(file);
      return 1;
    }
    close(folder);
  }
  axpy(context, tensors);
  return 0;
}
