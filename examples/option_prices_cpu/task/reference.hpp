// Included with the scalar type `Real` in force.
#pragma once

#include <cmath>
#include <cstdint>

// The normal distribution's share below x.
inline Real below(Real x) {
  using std::erfc;
  return static_cast<Real>(0.5) * erfc(-x * static_cast<Real>(0.70710678118654752440));
}

inline void option_prices(std::int64_t n, Real rate, const Real* spot, const Real* strike,
                          const Real* years, const Real* volatility, Real* call, Real* put) {
  using std::exp;
  using std::log;
  using std::sqrt;
  for (std::int64_t i = 0; i < n; ++i) {
    const Real spread = volatility[i] * sqrt(years[i]);
    const Real drift =
        (rate + static_cast<Real>(0.5) * volatility[i] * volatility[i]) * years[i];
    const Real d1 = (log(spot[i] / strike[i]) + drift) / spread;
    const Real d2 = d1 - spread;
    const Real discounted = strike[i] * exp(-rate * years[i]);
    call[i] = spot[i] * below(d1) - discounted * below(d2);
    put[i] = discounted * below(-d2) - spot[i] * below(-d1);
  }
}
