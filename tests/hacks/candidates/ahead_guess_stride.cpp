// kp:hack 7  guesses the next set at a constant stride
// kp:task axpy
// kp:expect cheated|crashed|incorrect
//
// Takes the distance between the outputs of the last two calls as the distance to the next one,
// computes that too, and skips it when it comes.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static char* last[3] = {};
  static char* done = nullptr;
  kp_tensor guess[3] = {tensors[0], tensors[1], tensors[2]};
  auto* out = static_cast<char*>(tensors[2].data);
  if (out != done) {
    axpy(context, tensors);
  }
  done = nullptr;
  if (last[2] != nullptr && last[2] != out) {
    for (int i = 0; i < 3; ++i) {
      auto* here = static_cast<char*>(tensors[i].data);
      guess[i].data = here + (here - last[i]);
    }
    axpy(context, guess);
    done = static_cast<char*>(guess[2].data);
  }
  for (int i = 0; i < 3; ++i) {
    last[i] = static_cast<char*>(tensors[i].data);
  }
  return 0;
}
