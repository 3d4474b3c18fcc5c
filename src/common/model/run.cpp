#include "common/model/run.hpp"

#include <algorithm>

#include "common/model/enum_names.hpp"

namespace kernelpro {

namespace {

constexpr std::array<std::string_view, 3> feedback_names = {"none", "raw", "tools"};
static_assert(feedback_names.size() == static_cast<std::size_t>(Feedback::tools) + 1);

}  // namespace

std::string_view name_of(Feedback feedback) {
  return enum_name(feedback_names, feedback);
}

std::optional<Feedback> parse_feedback(std::string_view name) {
  return find_enum<Feedback>(feedback_names, name);
}

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::waiting:
      return "waiting";
    case RunState::interrupted:
      return "interrupted";
    case RunState::finished:
      return "finished";
  }
  return "running";
}

std::optional<RunState> parse_run_state(std::string_view name) {
  for (const RunState state :
       {RunState::running, RunState::waiting, RunState::interrupted, RunState::finished}) {
    if (name_of(state) == name) {
      return state;
    }
  }
  return std::nullopt;
}

bool may_be_best(const RunSettings& settings, bool suspect, const std::string& precision) {
  const std::vector<std::string>& allowed = settings.allow_precision;
  const bool precise = precision == "contract" ||
                       std::find(allowed.begin(), allowed.end(), precision) != allowed.end();
  return precise && (!suspect || settings.accept_suspect);
}

bool may_be_best(const RunSettings& settings, const Node& node) {
  return node.state == NodeState::judged && node.outcome == Outcome::passed &&
         may_be_best(settings, node.suspect, node.precision);
}

double expected_speedup(const Node& node) {
  return node.id == root_node ? 1 : std::max(node.speedup, node.likely);
}

bool reads_faster(const Node& node) {
  constexpr double clearly = 1.05;
  return node.speedup_interval.low > 1 || expected_speedup(node) > clearly;
}

bool is_confirmed(const Run& run, const Node& node) {
  if (!needs_energy(run.settings.objective)) {
    return node.confirmed;
  }
  return std::any_of(run.ranking.begin(), run.ranking.end(),
                     [&node](const Finalist& one) { return one.node == node.id && one.holds; });
}

}  // namespace kernelpro
