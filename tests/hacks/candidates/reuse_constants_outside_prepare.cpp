// kp:hack 11  constants cached outside kp_prepare
// kp:task spmv
// kp:expect incorrect
//
// Copies the matrix values at the first call of each size and uses the copy ever after.
#include <kernelpro/candidate.h>

#include <map>
#include <utility>
#include <vector>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  const int64_t rows = tensors[4].shape[0];
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  const int64_t entries = tensors[2].shape[0];
  static std::map<std::pair<int64_t, int64_t>, std::vector<float>> cache;
  std::vector<float>& kept = cache[{rows, entries}];
  if (kept.empty()) {
    kept.assign(values, values + entries);
  }
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += kept[static_cast<size_t>(p)] * x[columns[p]];
    }
    y[i] = sum;
  }
  return 0;
}
