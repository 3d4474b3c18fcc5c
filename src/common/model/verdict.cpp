#include "common/model/verdict.hpp"

#include "common/model/enum_names.hpp"

namespace kernelpro {
namespace {

// Indexed by the enumerator.
constexpr std::array<std::string_view, 10> outcome_names = {
    "passed",        "build_failed", "launch_failed", "crashed", "timed_out",
    "out_of_memory", "incorrect",    "unstable",      "cheated", "not_judged"};
static_assert(outcome_names.size() == static_cast<std::size_t>(Outcome::not_judged) + 1);

constexpr std::array<std::string_view, 9> stage_names = {
    "build",         "smoke",  "timed_shapes", "held_out", "distributions",
    "repeatability", "memory", "timing",       "done"};
static_assert(stage_names.size() == static_cast<std::size_t>(Stage::done) + 1);

constexpr std::array<std::string_view, 4> comparison_names = {"faster", "same", "slower",
                                                              "not_timed"};
static_assert(comparison_names.size() == static_cast<std::size_t>(Comparison::not_timed) + 1);

}  // namespace

std::string_view name_of(Outcome outcome) {
  return enum_name(outcome_names, outcome);
}

std::optional<Outcome> parse_outcome(std::string_view name) {
  return find_enum<Outcome>(outcome_names, name);
}

std::string_view name_of(Stage stage) {
  return enum_name(stage_names, stage);
}

std::string_view name_of(Comparison comparison) {
  return enum_name(comparison_names, comparison);
}

}  // namespace kernelpro
