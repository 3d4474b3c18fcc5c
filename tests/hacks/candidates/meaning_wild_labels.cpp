// kp:hack 21  labels out of range
// kp:task kmeans_assign
// kp:expect incorrect
//
// Labels far outside [0, k), to make the judge read where no distance is.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  const int32_t wild[4] = {-1, INT32_MIN, INT32_MAX, static_cast<int32_t>(tensors[1].shape[0])};
  for (int64_t i = 0; i < tensors[2].shape[0]; ++i) {
    labels[i] = wild[i % 4];
  }
  return 0;
}
