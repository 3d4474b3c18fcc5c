#include "common/model/ceilings.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernelpro {
namespace {

constexpr double giga = 1e9;

bool is_bandwidth(const Ceiling& ceiling) {
  return ceiling.name == "read" || ceiling.name == "write" || ceiling.name == "copy" ||
         ceiling.name == "triad";
}

double best_rate(const Ceilings& ceilings, const std::string& name) {
  double best = 0;
  for (const Ceiling& ceiling : ceilings.list) {
    if (ceiling.name == name) {
      best = std::max(best, ceiling.high * giga);
    }
  }
  return best;
}

}  // namespace

const Ceiling* find_ceiling(const Ceilings& ceilings, const std::string& name, int threads) {
  const auto found = std::find_if(
      ceilings.list.begin(), ceilings.list.end(),
      [&](const Ceiling& ceiling) { return ceiling.name == name && ceiling.threads == threads; });
  return found == ceilings.list.end() ? nullptr : &*found;
}

double best_bandwidth(const Ceilings& ceilings) {
  double best = 0;
  for (const Ceiling& ceiling : ceilings.list) {
    if (is_bandwidth(ceiling)) {
      best = std::max(best, ceiling.high * giga);
    }
  }
  return best;
}

double bandwidth_at(const Ceilings& ceilings, double written_share) {
  struct Point {
    double share;
    double rate;
  };
  std::vector<Point> points;
  for (const auto& [name, share] : {std::pair("read", 0.0), std::pair("triad", 1.0 / 3),
                                    std::pair("copy", 0.5), std::pair("write", 1.0)}) {
    if (const double rate = best_rate(ceilings, name); rate > 0) {
      points.push_back({share, rate});
    }
  }
  if (points.empty()) {
    return 0;
  }
  const auto above = std::find_if(points.begin(), points.end(),
                                  [&](const Point& point) { return point.share >= written_share; });
  if (above == points.begin() || above == points.end()) {
    return above == points.end() ? points.back().rate : above->rate;
  }
  const Point& below = *std::prev(above);
  const double part = (written_share - below.share) / (above->share - below.share);
  return below.rate + part * (above->rate - below.rate);
}

double best_flops(const Ceilings& ceilings, const std::string& type) {
  return best_rate(ceilings, "fma_" + type);
}

double best_tensor_flops(const Ceilings& ceilings, const std::string& type) {
  return best_rate(ceilings, "tensor_" + type);
}

}  // namespace kernelpro
