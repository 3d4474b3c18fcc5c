// kp:hack honest  all optional functions, none needed
// kp:task spmv
// kp:expect passed
// kp:twin load_huge_workspace.cpp
//
// Asks for no workspace and no state, prepares nothing of the constant matrix, and names itself.
#include <kernelpro/candidate.h>

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}

extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}

extern "C" const char* kp_implementation(void) {
  return "plain loop";
}

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  for (int64_t i = 0; i < tensors[4].shape[0]; ++i) {
    float sum = 0;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
  return 0;
}
