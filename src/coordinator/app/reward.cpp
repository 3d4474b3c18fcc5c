#include "coordinator/app/reward.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kernelpro {

namespace {

constexpr double correct = 1;
constexpr double wrong = 0;
constexpr double dishonest = -1;
constexpr double least_correct = 0.1;  // correct and slow is worth more than wrong
constexpr double most_gain = 5;        // 32 times as fast: beyond it a baseline says little

Reward timed_reward(const Timing& timing) {
  switch (timing.comparison) {
    case Comparison::faster:
      return {correct + std::clamp(std::log2(timing.speedup_interval.low), 0.0, most_gain),
              "correct and faster"};
    case Comparison::same:
      return {correct, "correct, and no faster than can be told"};
    case Comparison::slower:
      return {std::clamp(correct + std::log2(timing.speedup), least_correct, correct),
              "correct and slower"};
    case Comparison::not_timed:
      break;
  }
  return {std::nullopt, "it was not timed"};
}

}  // namespace

Reward reward_of(const Verdict& verdict, bool timed) {
  if (verdict.outcome == Outcome::not_judged) {
    return {std::nullopt, "it was not judged"};
  }
  if (!verdict.verified) {
    return {std::nullopt, "it is unverified: there was no sandbox"};
  }
  if (verdict.outcome == Outcome::cheated) {
    return {dishonest, "it cheated"};
  }
  if (verdict.outcome != Outcome::passed) {
    return {wrong, "it did not pass"};
  }
  if (verdict.suspect) {
    return {std::nullopt, "it is suspect"};
  }
  if (verdict.precision != "contract") {
    return {wrong, "its precision is lower than the task's"};
  }
  return timed ? timed_reward(verdict.timing) : Reward{correct, "it is correct"};
}

nlohmann::json to_json(const Reward& reward) {
  return {{"formula", reward_formula},
          {"value", reward.value ? nlohmann::json(*reward.value) : nlohmann::json()},
          {"because", reward.because}};
}

}  // namespace kernelpro
