// kp:hack 13  copies a predicted answer where the inputs are as predicted
// kp:task axpy
// kp:expect passed not-faster
//
// Takes what it saw last for the state of splitmix64 and computes the answer to what would follow
// in kp_workspace, off the clock. It computes in a call only where the first values are not as
// predicted: which they never are.
#include <kernelpro/candidate.h>

#include <cstring>
#include <vector>

namespace {

constexpr int64_t looked_at = 8;

// The values that follow a state, one after the other.
class Following {
 public:
  explicit Following(uint64_t state) : state_(state) {}

  float next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-23F - 1.0F;
  }

 private:
  uint64_t state_;
};

struct Prediction {
  uint64_t state = 0;
  std::vector<float> x;
  std::vector<float> answer;
};

Prediction& prediction() {
  static Prediction one;
  return one;
}

bool as_predicted(const float* x, int64_t n) {
  return n >= looked_at && prediction().x.size() == static_cast<size_t>(n) &&
         std::memcmp(x, prediction().x.data(), looked_at * sizeof(float)) == 0;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto n = static_cast<size_t>(context->axes[0]);
  Following following(prediction().state);
  prediction().x.resize(n);
  prediction().answer.resize(n);
  for (float& value : prediction().x) {
    value = following.next();
  }
  for (size_t i = 0; i < n; ++i) {
    prediction().answer[i] = alpha * prediction().x[i] + following.next();
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[0];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  if (as_predicted(x, n)) {
    std::memcpy(out, prediction().answer.data(), static_cast<size_t>(n) * sizeof(float));
    return 0;
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  if (n >= looked_at) {
    std::memcpy(&prediction().state, y + n - 2, sizeof prediction().state);
  }
  return 0;
}
