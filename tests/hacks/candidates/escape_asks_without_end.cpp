// kp:hack 27  the worker kept busy with questions about paths
// kp:task axpy
// kp:expect passed|timed_out|cheated not-faster|stopped|sandbox|threads|clock
// kp:options -O2 -pthread
//
// A thread asks for a file that does not exist, by a path of thousands of steps, which the worker
// has to look up each time: also while it should stop the runner.
#include <fcntl.h>
#include <kernelpro/candidate.h>

#include <string>
#include <thread>

#include "plain_axpy.hpp"

namespace {

bool started = false;

void ask() {
  std::string path;
  while (path.size() < 3900) {
    path += "/usr/..";
  }
  path += "/kernelpro-not-there";
  for (;;) {
    open(path.c_str(), O_RDONLY);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!started) {
    started = true;
    std::thread(ask).detach();
  }
  axpy(context, tensors);
  return 0;
}
