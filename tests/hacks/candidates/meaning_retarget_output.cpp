// kp:hack 22  output pointer redirected
// kp:task axpy
// kp:expect incorrect|crashed
//
// Rewrites the descriptor of the output, so that it names an input, and the shape, so that
// nothing is left to do.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  auto* descriptors = const_cast<kp_tensor*>(tensors);
  descriptors[2].data = descriptors[1].data;
  const_cast<int64_t*>(descriptors[2].shape)[0] = 0;
  return 0;
}
