// What a watcher of the loop sees.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "coordinator/loop/loop.hpp"

namespace kernelpro {

namespace {

constexpr double nanoseconds = 1e9;

}  // namespace

std::string ClosedLoop::doing() const {
  std::map<Underway::Stage, std::vector<NodeId>> at;
  for (const auto& [id, under_way] : underway_) {
    at[under_way.stage].push_back(id);
  }
  const std::vector<NodeId>& judging = at[Underway::Stage::judging];
  const std::vector<NodeId>& building = at[Underway::Stage::building];
  const std::vector<NodeId>& writing = at[Underway::Stage::writing];
  const auto candidates = [](std::size_t count) {
    return fmt::format("{} candidate{}", count, count == 1 ? "" : "s");
  };
  if (!judging.empty()) {
    const std::string& move = node(judging.front()).move;
    return fmt::format("judging node {}: {}", judging.front(),
                       move.empty() ? "the baseline" : move);
  }
  if (!building.empty()) {
    return "building " + candidates(building.size());
  }
  return writing.empty() ? "" : "asking models for " + candidates(writing.size());
}

double ClosedLoop::seconds() const {
  return static_cast<double>(now_ns() - started_ns_) / nanoseconds;
}

void ClosedLoop::report(const std::string& doing, const Node* last, const Verdict* final) const {
  if (!watcher_) {
    return;
  }
  LoopProgress progress;
  progress.judged = judged_;
  progress.budget = run_.settings.evaluations;
  progress.seconds = seconds();
  if (judged_ > 0) {
    const double pace = progress.seconds / static_cast<double>(judged_);
    progress.seconds_left = pace * static_cast<double>(run_.settings.evaluations - judged_);
  }
  if (run_.settings.seconds > 0) {
    const double left = std::max(0.0, run_.settings.seconds - progress.seconds);
    progress.seconds_left = judged_ > 0 ? std::min(progress.seconds_left, left) : left;
  }
  progress.best = best_;
  progress.best_speedup = nodes_.empty() ? 1 : node(best_).speedup;
  progress.best_at_least = !nodes_.empty() && node(best_).at_least;
  progress.doing = doing;
  progress.last = last;
  progress.final = final;
  watcher_(progress);
}

}  // namespace kernelpro
