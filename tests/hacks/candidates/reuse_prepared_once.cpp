// kp:hack 11  kp_prepare works at its first calls only
// kp:task spmv
// kp:expect incorrect|crashed
//
// Constants are taken to be the same for as long as their memory is: the state keeps what was
// prepared when it was new.
#include <kernelpro/candidate.h>

#include <cstring>

namespace {

struct Head {
  int64_t rows;
  int64_t entries;
};

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return sizeof(Head) + static_cast<size_t>(context->axes[3]) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  auto* head = static_cast<Head*>(context->state);
  if (head->rows != context->axes[0] || head->entries != context->axes[3]) {
    *head = {context->axes[0], context->axes[3]};
    std::memcpy(head + 1, tensors[2].data, static_cast<size_t>(context->axes[3]) * sizeof(float));
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = reinterpret_cast<const float*>(static_cast<const Head*>(context->state) + 1);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    float sum = 0.0F;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
  return 0;
}
