#include "common/model/ceilings.hpp"

#include <algorithm>

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

double best_flops(const Ceilings& ceilings, const std::string& type) {
  return best_rate(ceilings, "fma_" + type);
}

double best_tensor_flops(const Ceilings& ceilings, const std::string& type) {
  return best_rate(ceilings, "tensor_" + type);
}

}  // namespace kernelpro
