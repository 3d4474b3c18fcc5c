#include "coordinator/html/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

namespace kernelpro::html {

namespace {

// 1, 2 or 5 times a power of ten, at least `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::vector<double> linear_ticks(double low, double high, int most) {
  const double step = round_step((high - low) / std::max(most - 1, 1));
  std::vector<double> out;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9) && out.size() < 64;
       ++i) {
    out.push_back(i * step + 0.0);  // minus zero is zero
  }
  return out;
}

std::vector<double> logarithmic_ticks(double low, double high, const std::vector<double>& factors,
                                      int every) {
  std::vector<double> out;
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  for (int power = static_cast<int>(std::floor(std::log10(low))); power <= last; ++power) {
    if (power % every != 0) {
      continue;
    }
    for (const double factor : factors) {
      const double value = factor * std::pow(10, power);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) {
        out.push_back(value);
      }
    }
  }
  return out;
}

}  // namespace

double Scale::at(double value) const {
  const double inside = std::clamp(value, low_, high_);
  const double share = kind_ == Kind::linear ? (inside - low_) / (high_ - low_)
                                             : std::log(inside / low_) / std::log(high_ / low_);
  return from_ + share * (to_ - from_);
}

std::vector<double> Scale::ticks(int most) const {
  if (kind_ == Kind::linear) {
    return linear_ticks(low_, high_, most);
  }
  const auto limit = static_cast<std::size_t>(most);
  std::vector<double> fine = logarithmic_ticks(low_, high_, {1, 2, 5}, 1);
  if (fine.size() < 3) {
    return linear_ticks(low_, high_, most);
  }
  if (fine.size() <= limit) {
    return fine;
  }
  for (int every = 1;; ++every) {
    std::vector<double> decades = logarithmic_ticks(low_, high_, {1}, every);
    if (decades.size() <= limit) {
      return decades;
    }
  }
}

std::vector<double> spread(std::vector<double> places, double gap, double low, double high) {
  // Down from the top, then up from the bottom.
  double least = low;
  for (double& place : places) {
    place = std::max(place, least);
    least = place + gap;
  }
  double most = high;
  for (double& place : std::ranges::reverse_view(places)) {
    place = std::min(place, most);
    most = place - gap;
  }
  return places;
}

std::string tick_text(double value) {
  const double size = std::abs(value);
  return size != 0 && (size >= 1e6 || size < 1e-4) ? fmt::format("{:.0e}", value)
                                                   : fmt::format("{:.6g}", value);
}

}  // namespace kernelpro::html
