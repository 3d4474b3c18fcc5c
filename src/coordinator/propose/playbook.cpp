#include "coordinator/propose/playbook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "common/model/task.hpp"
#include "common/model/tunables.hpp"
#include "coordinator/rewrite/cuda_text.hpp"
#include "coordinator/rewrite/rewriter.hpp"

namespace kernelpro {

namespace {

// A move against the diagnosed class is worth more than one that is not, and a later site of a
// move less than an earlier one.
constexpr double matching_class = 1.5;
constexpr double other_class = 0.6;
constexpr double later_site = 0.8;
// A move made again on the way from the root finds what its first time has left.
constexpr double made_before = 0.3;
// How many trials the move file's own expectation counts for.
constexpr double prior_trials = 2;

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Levels of optimization exclude each other; everything else is there or not.
std::vector<std::string> changed_options(std::vector<std::string> options, const Move& move) {
  for (const std::string& change : move.options) {
    if (change.starts_with("!")) {
      std::erase(options, change.substr(1));
      continue;
    }
    if (change.starts_with("-O")) {
      std::erase_if(options, [](const std::string& option) { return option.starts_with("-O"); });
    }
    // -mllvm takes the next word, so such pairs may repeat it.
    if (change == "-mllvm" || !contains(options, change)) {
      options.push_back(change);
    }
  }
  return options;
}

Candidate changed_candidate(const Candidate& parent, const Move& move) {
  Candidate candidate = parent;
  candidate.libraries.clear();
  candidate.options = changed_options(parent.options, move);
  if (!move.compiler.empty()) {
    candidate.compiler = move.compiler;
  }
  return candidate;
}

double class_factor(const Move& move, Bottleneck bottleneck) {
  if (move.classes.empty() || bottleneck == Bottleneck::unknown) {
    return 1;
  }
  const bool matches =
      std::find(move.classes.begin(), move.classes.end(), bottleneck) != move.classes.end();
  return matches ? matching_class : other_class;
}

// A finding that names the move says what it may gain here; the largest one counts.
double found_gain(const Move& move, const Diagnosis& diagnosis) {
  double gain = 1;
  for (const Finding& finding : diagnosis.findings) {
    if (contains(finding.moves, move.id)) {
      gain = std::max(gain, finding.predicted_gain);
    }
  }
  return gain;
}

// What the move file says, for this parent.
double own_promise(const Move& move, const Parent& parent) {
  const double found = found_gain(move, parent.diagnosis);
  return move.chance * std::log(std::max(move.gain, found)) *
         (found > 1 ? matching_class : class_factor(move, parent.diagnosis.bottleneck));
}

// Sizes are stepped through one by one, everything else is done once as a rule.
double repeat_factor(const Move& move, const Parent& parent) {
  return !move.tune && parent.moves.contains(move.id) ? made_before : 1;
}

// The mean of that, of what other runs remember and of what the move has gained so far.
double learned(double promise, const MovePrior& remembered, const std::string& move,
               const Experience& experience) {
  const double believed = experience.trust * remembered.trials;
  double sum = prior_trials * promise + believed * remembered.gain;
  double trials = prior_trials + believed;
  if (const auto record = experience.records.find(move); record != experience.records.end()) {
    sum += record->second.log_gain;
    trials += record->second.tried;
  }
  return sum / trials;
}

Suggestion make_suggestion(const Move& move, const Parent& parent, Candidate candidate,
                           std::string site, std::string plan, std::size_t position) {
  Suggestion suggestion;
  suggestion.proposal.move = move.id;
  suggestion.proposal.site = std::move(site);
  suggestion.proposal.plan = std::move(plan);
  suggestion.proposal.predicted_gain = move.gain;
  suggestion.proposal.candidate = std::move(candidate);
  suggestion.promise = own_promise(move, parent);
  suggestion.remembered = find_prior(parent.priors, move.id, suggestion.proposal.site);
  suggestion.weight =
      repeat_factor(move, parent) * std::pow(later_site, static_cast<double>(position));
  return suggestion;
}

// One step up and down the list of values of each tunable.
Status suggest_neighbors(const Move& move, const Parent& parent, std::vector<Suggestion>& out) {
  KP_LET(const std::vector<Tunable> tunables, parse_tunables(parent.candidate.source));
  if (tunables.empty()) {
    return make_error(ErrorKind::bad_input, "the source has no tunables");
  }
  std::size_t position = 0;
  for (const Tunable& tunable : tunables) {
    const auto here = std::find(tunable.values.begin(), tunable.values.end(), tunable.current);
    const auto index = here - tunable.values.begin();
    for (const std::ptrdiff_t next : {index + 1, index - 1}) {
      if (next < 0 || next >= static_cast<std::ptrdiff_t>(tunable.values.size())) {
        continue;
      }
      const std::int64_t value = tunable.values[static_cast<std::size_t>(next)];
      KP_LET(std::string source, set_tunables(parent.candidate.source, {{tunable.name, value}}));
      Candidate candidate = parent.candidate;
      candidate.source = std::move(source);
      out.push_back(make_suggestion(
          move, parent, std::move(candidate), fmt::format("{} = {}", tunable.name, value),
          fmt::format("{}: {} from {} to {}", move.title, tunable.name, tunable.current, value),
          position++));
    }
  }
  return {};
}

Status suggest_sweep(const Move& move, const Parent& parent, std::vector<Suggestion>& out) {
  KP_LET(const std::vector<Tunable> tunables, parse_tunables(parent.candidate.source));
  if (tunables.empty()) {
    return make_error(ErrorKind::bad_input, "the source has no tunables");
  }
  out.push_back(make_suggestion(move, parent, parent.candidate, "", move.title, 0));
  out.back().sweep = true;
  return {};
}

Status check_known(const std::vector<std::string>& wanted, const std::vector<std::string>& known,
                   const char* what) {
  for (const std::string& name : wanted) {
    if (!contains(known, name)) {
      return make_error(ErrorKind::bad_input, fmt::format("there is no {} \"{}\"; known are {}",
                                                          what, name, fmt::join(known, ", ")));
    }
  }
  return {};
}

}  // namespace

Result<Playbook> Playbook::load(const PlaybookSettings& settings) {
  KP_LET(std::vector<Move> moves, load_moves(settings.moves));
  std::vector<std::string> ids;
  std::vector<std::string> rewriters = rewriter_names();
  std::ranges::copy(cuda_rewriter_names(), std::back_inserter(rewriters));
  for (const Move& move : moves) {
    ids.push_back(move.id);
    for (const RewriteStep& step : move.rewriters) {
      const Status known = check_known({step.rewriter}, rewriters, "rewriter");
      if (!known) {
        return make_error(ErrorKind::bad_input, known.error().message, "move " + move.id);
      }
    }
  }
  KP_TRY(check_known(settings.only, ids, "move"));
  KP_TRY(check_known(settings.tiers, move_tiers(), "tier"));
  std::vector<Move> known = moves;
  std::erase_if(moves, [&settings](const Move& move) {
    const bool named = contains(settings.only, move.id);
    const bool in_tier = contains(settings.tiers, move.tier);
    const bool all = settings.only.empty() && settings.tiers.empty();
    return move.tier == written_tier || (!all && !named && !in_tier);
  });
  return Playbook(settings, std::move(moves), std::move(known));
}

bool Playbook::holds(const Condition& condition, const Parent& parent) const {
  switch (condition.kind) {
    case Condition::Kind::option:
      return contains(parent.candidate.options, condition.value) == condition.wanted;
    case Condition::Kind::compiler:
      return (parent.candidate.compiler.find(condition.value) != std::string::npos) ==
             condition.wanted;
    case Condition::Kind::source:
      return (parent.candidate.source.find(condition.value) != std::string::npos) ==
             condition.wanted;
    case Condition::Kind::after:
      return parent.moves.contains(condition.value) == condition.wanted;
    case Condition::Kind::task:
      return true;  // `suits` says that
    case Condition::Kind::policy:
      return (condition.value == "fast_math" && settings_.fast_math) == condition.wanted;
  }
  return false;
}

std::string Playbook::obstacle(const Move& move, const Parent& parent) const {
  if (parent.candidate.compiler == torch_compiler) {
    return "the baseline is a PyTorch module: give candidates to search from (--from FILE)";
  }
  if (!move.compiler.empty()) {
    if (move.compiler == parent.candidate.compiler) {
      return "it is built by " + move.compiler + " already";
    }
    if (!contains(settings_.compilers, move.compiler)) {
      return move.compiler + " is not there";
    }
  }
  for (const Condition& condition : move.when) {
    if (!holds(condition, parent)) {
      return fmt::format("it needs {}\"{}\"", condition.wanted ? "" : "no ", condition.value);
    }
  }
  return {};
}

Result<std::vector<Rewritten>> Playbook::rewritten(const Move& move, const std::string& source,
                                                   const std::stop_token& stop) const {
  std::vector<Rewritten> sites;
  std::optional<Error> refused;
  for (const RewriteStep& step : move.rewriters) {
    const std::string& from = sites.empty() ? source : sites.front().source;
    const std::string before = sites.empty() ? "" : sites.front().summary + "; ";
    Result<std::vector<Rewritten>> next =
        memory_->rewritten(step.rewriter, from, step.arguments, stop);
    if (next) {
      sites = std::move(*next);
      for (Rewritten& site : sites) {
        site.summary = before + site.summary;
      }
    } else if (!step.optional) {
      return next.error();
    } else if (!refused) {
      refused = next.error();
    }
  }
  if (sites.empty() && refused) {
    return *refused;
  }
  return sites;
}

Result<std::vector<Suggestion>> Playbook::suggest(const Move& move, const Parent& parent,
                                                  std::stop_token stop) const {
  std::vector<Suggestion> out;
  if (!move.rewriters.empty()) {
    KP_LET(const std::vector<Rewritten> sites, rewritten(move, parent.candidate.source, stop));
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const Rewritten& site = sites[i];
      Candidate candidate = changed_candidate(parent.candidate, move);
      candidate.source = site.source;
      out.push_back(
          make_suggestion(move, parent, std::move(candidate), site.site, site.summary, i));
    }
  } else if (move.tune && settings_.sweep) {
    KP_TRY(suggest_sweep(move, parent, out));
  } else if (move.tune) {
    KP_TRY(suggest_neighbors(move, parent, out));
  } else {
    out.push_back(make_suggestion(move, parent, changed_candidate(parent.candidate, move), "",
                                  move.title, 0));
  }
  return out;
}

void Playbook::look_ahead(const Candidate& candidate, const std::stop_token& stop) const {
  const bool parses = std::any_of(moves_.begin(), moves_.end(), [](const Move& move) {
    return !move.rewriters.empty() && !is_cuda_rewriter(move.rewriters.front().rewriter);
  });
  if (parses && candidate.compiler != torch_compiler && !stop.stop_requested()) {
    memory_->parse(candidate.source, stop);
  }
}

double Playbook::promise(const Suggestion& suggestion, const Experience& experience) {
  return suggestion.weight *
         learned(suggestion.promise, suggestion.remembered, suggestion.proposal.move, experience);
}

double Playbook::promise(const Move& move, const Parent& parent, const Experience& experience) {
  return repeat_factor(move, parent) * learned(own_promise(move, parent),
                                               find_prior(parent.priors, move.id, ""), move.id,
                                               experience);
}

double Playbook::file_promise(const Move& move, const Parent& parent) {
  return own_promise(move, parent);
}

}  // namespace kernelpro
