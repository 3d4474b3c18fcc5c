// kp:hack honest  a signal to itself, with a handler
// kp:task axpy
// kp:expect passed
// kp:twin end_continues_itself.cpp
//
// Tries an instruction at load time as libraries do that look for the abilities of a processor.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <csignal>

#include "plain_axpy.hpp"

namespace {

volatile std::sig_atomic_t seen = 0;

void note(int) {
  seen = 1;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool tried = [] {
    const auto before = std::signal(SIGUSR2, note);
    std::raise(SIGUSR2);
    kill(getpid(), SIGUSR2);
    std::signal(SIGUSR2, before);
    return seen == 1;
  }();
  axpy(context, tensors);
  return tried ? 0 : 1;
}
