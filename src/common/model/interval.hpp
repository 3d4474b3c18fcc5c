// An interval of a measured value, as a rule of 95 %.
#pragma once

namespace kernelpro {

struct Interval {
  double low = 0;
  double high = 0;
};

[[nodiscard]] constexpr bool overlap(const Interval& a, const Interval& b) {
  return a.low <= b.high && b.low <= a.high;
}

}  // namespace kernelpro
