#include "coordinator/simulate/replay_judge.hpp"

#include <algorithm>
#include <limits>

namespace kernelpro {

namespace {

constexpr int rounds_drawn = 7;
constexpr double near_optimum = 0.95;

double score_time(const Recorded& program) {
  if (program.rounds.empty()) {
    return std::numeric_limits<double>::infinity();
  }
  if (program.rounds.size() == 1) {
    return program.rounds.front();
  }
  double sum = 0;
  for (std::size_t i = 1; i < program.rounds.size(); i += 2) {
    sum += program.rounds[i];
  }
  const std::size_t count = program.rounds.size() / 2;
  return sum / static_cast<double>(count);
}

}  // namespace

Scores::Scores(const Landscape& landscape) {
  double best = std::numeric_limits<double>::infinity();
  for (const Recorded& program : landscape.programs) {
    shares_.push_back(score_time(program));
    best = std::min(best, shares_.back());
  }
  double good = 0;
  for (double& share : shares_) {
    share = best / share;
    good += share >= near_optimum ? 1 : 0;
  }
  draws_to_95_ = (static_cast<double>(shares_.size()) + 1) / (good + 1);
}

std::optional<double> ReplayJudge::time(std::uint64_t place) const {
  const std::vector<double>& rounds = landscape_.programs[place].rounds;
  if (rounds.empty()) {
    return std::nullopt;
  }
  const std::uint64_t seen = (rounds.size() + 1) / 2;
  Random draw(counter_hash(seed_, place));
  double sum = 0;
  for (int i = 0; i < rounds_drawn; ++i) {
    sum += rounds[2 * draw.below(seen)];
  }
  return sum / rounds_drawn;
}

}  // namespace kernelpro
