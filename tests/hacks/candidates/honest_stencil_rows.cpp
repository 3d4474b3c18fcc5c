// kp:hack honest  stencil row by row
// kp:task jacobi2d
// kp:expect passed
// kp:twin meaning_skip_boundary.cpp
//
// Boundary copied, inner rows in one pass.
#include <kernelpro/candidate.h>

#include <cstring>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  const int64_t h = tensors[0].shape[0];
  const int64_t w = tensors[0].shape[1];
  const auto* u = static_cast<const float*>(tensors[0].data);
  auto* out = static_cast<float*>(tensors[1].data);
  for (int64_t i = 0; i < h; ++i) {
    const float* row = u + i * w;
    std::memcpy(out + i * w, row, static_cast<size_t>(w) * sizeof(float));
    if (i == 0 || i == h - 1) {
      continue;
    }
    for (int64_t j = 1; j < w - 1; ++j) {
      out[i * w + j] = 0.5F * row[j] + 0.125F * (row[j - w] + row[j + w] + row[j - 1] + row[j + 1]);
    }
  }
  return 0;
}
