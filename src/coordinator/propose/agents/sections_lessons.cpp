// What other runs have learned.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "coordinator/propose/agents/sections.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

// Gains within this, as logarithms, are called no difference.
constexpr double no_difference = 0.03;

std::string gain_text(const Tally& tally) {
  const std::int64_t passed = tally.tried - tally.failed;
  if (passed == 0) {
    return "never passed";
  }
  std::string what = "made no difference";
  if (tally.mean > no_difference) {
    what = fmt::format("gained a factor of {}", factor_text(std::exp(tally.mean)));
  } else if (tally.mean < -no_difference) {
    what = fmt::format("lost: a factor of {}", factor_text(std::exp(tally.mean)));
  }
  if (passed == 1) {
    return what + ", once";
  }
  return what + fmt::format(" on average, mostly {} to {}",
                            factor_text(std::exp(tally.mean - tally.spread)),
                            factor_text(std::exp(tally.mean + tally.spread)));
}

std::string failures_text(const Tally& tally) {
  if (tally.failed == 0) {
    return "";
  }
  std::vector<std::string> causes;
  causes.reserve(tally.causes.size());
  for (const auto& [cause, count] : tally.causes) {
    causes.push_back(fmt::format("{} {}", count, cause));
  }
  return fmt::format("; {} failed{}", tally.failed,
                     causes.empty() ? "" : fmt::format(" ({})", fmt::join(causes, ", ")));
}

std::string advice_text(const Advice& advice) {
  return fmt::format("- `{}`: {} ({}{})\n", advice.move, gain_text(advice.tally),
                     counted(static_cast<std::size_t>(advice.tally.tried), "attempt"),
                     failures_text(advice.tally));
}

}  // namespace

// Who writes a plan down is told of its move alone.
std::string lessons_section(const Scene& scene, const Shown& shown) {
  std::string moves;
  for (std::size_t i = 0; i < std::min(shown.lessons, scene.order->lessons.size()); ++i) {
    const Advice& advice = scene.order->lessons[i];
    moves += scene.plan == nullptr || scene.plan->move == advice.move ? advice_text(advice) : "";
  }
  std::string facts;
  for (const std::string& fact : scene.order->facts) {
    facts += shown.lessons == 0 ? "" : fmt::format("- {}\n", fact);
  }
  if (moves.empty() && facts.empty()) {
    return "";
  }
  std::string out = "## Known from other runs\n";
  if (!moves.empty()) {
    out +=
        "\nMeasured there on kernels like this one, each against the one it was made from. It "
        "may not hold here: what this run has measured counts more.\n\n" +
        moves;
  }
  return out + (facts.empty() ? "" : "\nGot wrong there:\n\n" + facts);
}

}  // namespace kernelpro::agents
