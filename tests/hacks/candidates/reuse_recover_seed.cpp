// kp:hack 13  recovers a seed from input values and answers the next calls by it
// kp:task axpy
// kp:expect incorrect
//
// Takes each value for a hash of a seed and a counter that can be inverted, as splitmix64 and its
// like can. What follows from the seed it finds is computed in kp_workspace, off the clock, and the
// launch at the timed shape does nothing but copy it.
#include <kernelpro/candidate.h>

#include <cstring>
#include <vector>

namespace {

constexpr int64_t timed = 1200007;

// Undoes x ^ (x >> by).
uint32_t unshift(uint32_t x, int by) {
  uint32_t out = x;
  for (int done = by; done < 32; done += by) {
    out = x ^ (out >> by);
  }
  return out;
}

uint32_t mix(uint32_t x) {
  x *= 0x9e3779b9U;
  x = (x ^ (x >> 15)) * 0x85ebca6bU;
  return x ^ (x >> 14);
}

// Whose product with `odd` is 1.
uint32_t inverse(uint32_t odd) {
  uint32_t out = odd;
  for (int i = 0; i < 5; ++i) {
    out *= 2 - odd * out;
  }
  return out;
}

uint32_t unmix(uint32_t x) {
  x = unshift(x, 14) * inverse(0x85ebca6bU);
  return unshift(x, 15) * inverse(0x9e3779b9U);
}

float uniform(uint32_t seed, uint32_t i) {
  return 2.0F * (static_cast<float>(mix(seed + i) >> 8) * 0x1p-24F) - 1.0F;
}

// The seed under which x[0] is the first uniform value; of 256 the one that explains most of x.
uint32_t seed_of(const float* x, int64_t n) {
  const auto top = static_cast<uint32_t>((x[0] + 1.0F) * 0x1p23F) << 8;
  uint32_t best = 0;
  int64_t most = -1;
  for (uint32_t low = 0; low < 256; ++low) {
    const uint32_t seed = unmix(top | low);
    int64_t explained = 0;
    for (int64_t i = 0; i < n && i < 16; ++i) {
      explained += uniform(seed, static_cast<uint32_t>(i)) == x[i] ? 1 : 0;
    }
    if (explained > most) {
      most = explained;
      best = seed;
    }
  }
  return best;
}

struct Known {
  uint32_t x = 0;
  uint32_t y = 0;
  int64_t calls = 0;
  std::vector<float> answer;
};

Known& known() {
  static Known one;
  return one;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  const int64_t n = context->axes[0];
  if (n != timed || known().calls == 0) {
    return 0;
  }
  const auto alpha = static_cast<float>(context->scalars[0]);
  known().answer.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<uint32_t>(i);
    known().answer[static_cast<size_t>(i)] =
        alpha * uniform(known().x + 1, at) + uniform(known().y + 1, at);
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[0];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  if (n == timed && !known().answer.empty()) {
    std::memcpy(out, known().answer.data(), static_cast<size_t>(n) * sizeof(float));
    return 0;
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  if (n > 0) {
    known().x = seed_of(x, n);
    known().y = seed_of(y, n);
    ++known().calls;
  }
  return 0;
}
