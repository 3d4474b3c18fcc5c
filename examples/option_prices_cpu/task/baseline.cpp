#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

static float below(float x) { return 0.5F * std::erfc(-x * 0.70710678F); }

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6) {
    return 1;
  }
  const int64_t n = context->axes[0];
  const auto rate = static_cast<float>(context->scalars[0]);
  const auto* spot = static_cast<const float*>(tensors[0].data);
  const auto* strike = static_cast<const float*>(tensors[1].data);
  const auto* years = static_cast<const float*>(tensors[2].data);
  const auto* volatility = static_cast<const float*>(tensors[3].data);
  auto* call = static_cast<float*>(tensors[4].data);
  auto* put = static_cast<float*>(tensors[5].data);
  for (int64_t i = 0; i < n; ++i) {
    const float spread = volatility[i] * std::sqrt(years[i]);
    const float drift = (rate + 0.5F * volatility[i] * volatility[i]) * years[i];
    const float d1 = (std::log(spot[i] / strike[i]) + drift) / spread;
    const float d2 = d1 - spread;
    const float discounted = strike[i] * std::exp(-rate * years[i]);
    call[i] = spot[i] * below(d1) - discounted * below(d2);
    put[i] = discounted * below(-d2) - spot[i] * below(-d1);
  }
  return 0;
}
