// What may be tried, what is planned, and what was written.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "common/model/pasted_headers.hpp"
#include "coordinator/propose/agents/sections.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

constexpr std::size_t longest_advice = 220;

// What findings name, the earlier the better; the number of findings where none does.
std::size_t place_in_findings(const Move& move, const Diagnosis& diagnosis) {
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    const std::vector<std::string>& moves = diagnosis.findings[i].moves;
    if (std::find(moves.begin(), moves.end(), move.id) != moves.end()) {
      return i;
    }
  }
  return diagnosis.findings.size();
}

// The expected gain of a move in the class at hand.
double promise(const Move& move, Bottleneck bottleneck) {
  constexpr double elsewhere = 0.3;
  const bool fits =
      move.classes.empty() || bottleneck == Bottleneck::unknown ||
      std::find(move.classes.begin(), move.classes.end(), bottleneck) != move.classes.end();
  return move.chance * std::log(move.gain) * (fits ? 1 : elsewhere);
}

// Without feedback the order tells nothing of the profile.
std::vector<const Move*> ranked(const AgentOrder& order) {
  const bool told = order.run->settings.feedback == Feedback::tools;
  const Diagnosis diagnosis = told ? order.parent_tried.node.diagnosis : Diagnosis{};
  std::vector<const Move*> moves;
  moves.reserve(order.moves.size());
  for (const Move& move : order.moves) {
    moves.push_back(&move);
  }
  const auto rank = [&diagnosis](const Move& move) {
    return std::make_tuple(place_in_findings(move, diagnosis), -promise(move, diagnosis.bottleneck),
                           move.id);
  };
  std::sort(moves.begin(), moves.end(),
            [&rank](const Move* a, const Move* b) { return rank(*a) < rank(*b); });
  return moves;
}

std::string first_sentence(const std::string& advice) {
  const std::string text = one_line(advice);
  const std::size_t end = text.find(". ");
  return shortened(end == std::string::npos ? text : text.substr(0, end + 1), longest_advice);
}

}  // namespace

std::string moves_section(const Scene& scene, const Shown& shown) {
  const std::vector<const Move*> moves = ranked(*scene.order);
  const std::size_t count = std::min(moves.size(), shown.moves);
  if (count == 0) {
    return "";
  }
  std::string out =
      "## Moves that fit\n\nKnown ideas; take one by its id, or give a new one an id of its "
      "own.\n\n";
  for (std::size_t i = 0; i < count; ++i) {
    out += fmt::format("- `{}`: {}.{}\n", moves[i]->id, moves[i]->title,
                       shown.advice ? " " + first_sentence(moves[i]->advice) : "");
  }
  return out + (count == moves.size()
                    ? ""
                    : fmt::format("\n({} that promise less are left out)\n", moves.size() - count));
}

std::string move_section(const Scene& scene, const Shown& shown) {
  if (scene.plan == nullptr || !shown.advice) {
    return "";
  }
  const std::vector<Move>& moves = scene.order->moves;
  const auto found = std::find_if(moves.begin(), moves.end(), [&scene](const Move& move) {
    return move.id == scene.plan->move;
  });
  if (found == moves.end()) {
    return "";
  }
  std::string out = fmt::format("## About the move `{}`: {}\n\n{}\n", found->id, found->title,
                                trimmed(found->advice));
  if (shown.example && !found->example_source.empty()) {
    out += "\nA whole candidate that shows it, for another task; the judge passed it:\n\n" +
           fenced(traits_of(scene.order->run->settings.judging.backend).language,
                  found->example_source) +
           "\n";
  }
  return out;
}

std::string plan_section(const Scene& scene, const Shown& /*shown*/) {
  if (scene.plan == nullptr) {
    return "";
  }
  const Plan& plan = *scene.plan;
  std::string out = fmt::format("## The plan\n\nMove `{}`, predicted gain {}.\n\n{}\n", plan.move,
                                factor_text(plan.predicted_gain), plan.plan);
  out += plan.why.empty() ? "" : fmt::format("\nWhy: {}\n", plan.why);
  return out + (plan.risks.empty() ? "" : fmt::format("\nRisks: {}\n", plan.risks));
}

std::string candidate_section(const Scene& scene, const Shown& /*shown*/) {
  return scene.candidate == nullptr ? ""
                                    : "## The candidate\n\n" +
                                          fenced(traits_of(scene.candidate->backend).language,
                                                 without_pasted(scene.candidate->source)) +
                                          "\n";
}

}  // namespace kernelpro::agents
