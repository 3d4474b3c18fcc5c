#include "coordinator/propose/agents/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "common/model/enum_names.hpp"
#include "coordinator/propose/agents/compiler_errors.hpp"
#include "coordinator/propose/agents/condense.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

using std::string_view;

constexpr std::array<string_view, 3> kind_names = {"repeated error", "discovery", "plateau"};
static_assert(kind_names.size() == static_cast<std::size_t>(MemoryKind::plateau) + 1);

constexpr std::size_t longest_text = 240;
// Gains within this are called no difference.
constexpr double noticeable = 0.03;
// A plateau: that many passed candidates in a row, none this much faster than the best before.
constexpr std::size_t plateau_length = 5;
constexpr double plateau_gain = 1.02;

using Lines = std::vector<MemoryLine>;

bool has_speedup(const Node& node) {
  return node.state == NodeState::judged && node.outcome == Outcome::passed && node.speedup > 0;
}

void add(Lines& lines, MemoryKind kind, bool measured, std::vector<NodeId> nodes,
         const std::string& text) {
  lines.push_back({kind, measured, std::move(nodes), shortened(one_line(text), longest_text)});
}

std::string what_failed(const Verdict& verdict) {
  std::string what = verdict.summary;
  if (verdict.outcome == Outcome::build_failed) {
    for (const std::string& evidence : verdict.evidence) {
      if (const std::vector<CompilerError> errors = read_compiler_errors(evidence);
          !errors.empty()) {
        what = errors.front().message;
        break;
      }
    }
  }
  return fmt::format("{}{}: {}", name_of(verdict.outcome),
                     verdict.rule.empty() ? "" : fmt::format(" ({})", verdict.rule), what);
}

void add_repeated_errors(const std::vector<Tried>& all, Lines& lines) {
  std::map<std::string, std::vector<const Tried*>> by_signature;
  for (const Tried& one : all) {
    if (has_failed(one.node) && one.verdict) {
      by_signature[error_signature(*one.verdict)].push_back(&one);
    }
  }
  for (const auto& [signature, those] : by_signature) {
    if (those.size() < 2) {
      continue;
    }
    std::vector<NodeId> nodes;
    for (const Tried* one : those) {
      nodes.push_back(one->node.id);
    }
    add(lines, MemoryKind::repeated_error, true, std::move(nodes),
        fmt::format("{} candidates failed alike: {}", those.size(),
                    what_failed(*those.back()->verdict)));
  }
}

struct Gains {
  std::vector<NodeId> nodes;
  double log_sum = 0;
  double least = HUGE_VAL;
  double most = 0;
};

std::map<std::string, Gains> gains_by_move(const std::vector<Tried>& all) {
  std::map<NodeId, const Node*> by_id;
  for (const Tried& one : all) {
    by_id[one.node.id] = &one.node;
  }
  std::map<std::string, Gains> gains;
  for (const Tried& one : all) {
    const auto parent = by_id.find(one.node.parent);
    if (one.node.move.empty() || !has_speedup(one.node) || parent == by_id.end() ||
        !has_speedup(*parent->second)) {
      continue;
    }
    const double gain = one.node.speedup / parent->second->speedup;
    Gains& of_move = gains[one.node.move];
    of_move.nodes.push_back(one.node.id);
    of_move.log_sum += std::log(gain);
    of_move.least = std::min(of_move.least, gain);
    of_move.most = std::max(of_move.most, gain);
  }
  return gains;
}

void add_gains(const std::vector<Tried>& all, Lines& lines) {
  for (const auto& [move, gains] : gains_by_move(all)) {
    const auto count = static_cast<double>(gains.nodes.size());
    const double mean = std::exp(gains.log_sum / count);
    std::string what = "made no difference";
    if (mean > 1 + noticeable) {
      what = fmt::format("gained a factor of {}", factor_text(mean));
    } else if (mean < 1 - noticeable) {
      what = fmt::format("lost: a factor of {}", factor_text(mean));
    }
    std::string spread;
    if (gains.nodes.size() > 1) {
      spread = fmt::format(" on average over {} tries, {} to {}", gains.nodes.size(),
                           factor_text(gains.least), factor_text(gains.most));
    }
    add(lines, MemoryKind::discovery, true, gains.nodes,
        fmt::format("the move {} {}{}", move, what, spread));
  }
}

// The text between two marks; nothing where they are not there.
std::optional<std::string> between(const std::string& text, string_view before, string_view after) {
  const std::size_t start = text.find(before);
  if (start == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t from = start + before.size();
  const std::size_t end = text.find(after, from);
  return end == std::string::npos || end == from ? std::nullopt
                                                 : std::optional(text.substr(from, end - from));
}

std::optional<std::string> missing_header(const std::string& message) {
  constexpr string_view gcc_end = ": No such file or directory";
  if (const std::size_t at = message.find(gcc_end); at != std::string::npos && at > 0) {
    return message.substr(0, at);
  }
  if (message.find("file not found") != std::string::npos) {
    return between(message, "'", "'");
  }
  return between(message, "cannot open source file \"", "\"");
}

// By clang, nvcc, gcc and linkers.
std::optional<std::string> missing_name(const std::string& message) {
  if (const auto name = between(message, "use of undeclared identifier '", "'")) {
    return name;
  }
  if (const auto name = between(message, "identifier \"", "\" is undefined")) {
    return name;
  }
  if (message.find("was not declared") != std::string::npos) {
    return between(message, "‘", "’");
  }
  return between(message, "undefined reference to `", "'");
}

// A name of the author's own is a slip; one like these is of an interface that is not there.
bool looks_foreign(const std::string& name) {
  constexpr auto starts =
      std::to_array<string_view>({"__", "_mm", "cuda", "cublas", "cblas", "cudnn", "cusparse", "nv",
                                  "std::", "omp_", "wmma", "cute", "cutlass", "thrust", "cub::"});
  return std::any_of(starts.begin(), starts.end(),
                     [&name](string_view start) { return name.starts_with(start); });
}

// What is not there, by text; with the nodes that found out.
using Absent = std::map<std::pair<bool, std::string>, std::vector<NodeId>>;

void note(Absent& absent, bool measured, const std::string& text, NodeId node) {
  std::vector<NodeId>& nodes = absent[{measured, text}];
  if (nodes.empty() || nodes.back() != node) {
    nodes.push_back(node);
  }
}

void note_absences(const Tried& one, Absent& absent) {
  for (const std::string& evidence : one.verdict->evidence) {
    for (const CompilerError& error : read_compiler_errors(evidence)) {
      if (const auto header = missing_header(error.message)) {
        note(absent, true, fmt::format("there is no header {} here", *header), one.node.id);
      } else if (const auto name = missing_name(error.message); name && looks_foreign(*name)) {
        note(absent, false, fmt::format("{} does not seem to be available here", *name),
             one.node.id);
      }
    }
  }
}

void note_options(const Tried& one, Absent& absent) {
  constexpr string_view refused = "build option \"";
  for (const std::string& text : one.verdict->evidence) {
    const auto option = between(text, refused, "\" is refused");
    const auto reason = between(text, "\" is refused: ", ";");
    if (option) {
      note(absent, true,
           fmt::format("the build option {} is refused: {}", *option, reason.value_or("")),
           one.node.id);
    }
  }
}

void note_precision(const Tried& one, Absent& absent) {
  for (const std::string& text : one.verdict->evidence) {
    if (const auto lower = between(text, "the error is within what ", " arithmetic would give")) {
      note(absent, true, fmt::format("the precision of {} is not enough here", *lower),
           one.node.id);
    }
  }
}

void add_absences(const std::vector<Tried>& all, Lines& lines) {
  Absent absent;
  for (const Tried& one : all) {
    if (has_failed(one.node) && one.verdict) {
      note_absences(one, absent);
      note_options(one, absent);
      note_precision(one, absent);
    }
  }
  for (const auto& [what, nodes] : absent) {
    add(lines, MemoryKind::discovery, what.first, nodes, what.second);
  }
}

void add_plateau(const std::vector<Tried>& all, Lines& lines) {
  std::vector<const Node*> those;
  for (const Tried& one : all) {
    if (has_speedup(one.node)) {
      those.push_back(&one.node);
    }
  }
  if (those.size() <= plateau_length) {
    return;
  }
  const auto split = those.end() - static_cast<std::ptrdiff_t>(plateau_length);
  const auto slower = [](const Node* a, const Node* b) { return a->speedup < b->speedup; };
  const Node* best = *std::max_element(those.begin(), split, slower);
  const Node* later = *std::max_element(split, those.end(), slower);
  if (later->speedup >= best->speedup * plateau_gain) {
    return;
  }
  std::vector<NodeId> nodes = {best->id};
  for (auto one = split; one != those.end(); ++one) {
    nodes.push_back((*one)->id);
  }
  add(lines, MemoryKind::plateau, true, nodes,
      fmt::format("the last {} that passed gained less than 2 % over node {}, which is {} times as "
                  "fast as the baseline",
                  plateau_length, best->id, factor_text(best->speedup)));
  add(lines, MemoryKind::plateau, false, nodes,
      "more of the same kind will hardly gain: another algorithm, data layout or division of the "
      "work may");
}

}  // namespace

string_view name_of(MemoryKind kind) {
  return enum_name(kind_names, kind);
}

std::vector<MemoryLine> absences(const std::vector<Tried>& all) {
  Lines lines;
  add_absences(all, lines);
  return lines;
}

std::vector<MemoryLine> remember(const std::vector<Tried>& all, std::size_t most) {
  Lines lines;
  add_repeated_errors(all, lines);
  add_gains(all, lines);
  add_absences(all, lines);
  add_plateau(all, lines);
  std::sort(lines.begin(), lines.end(), [](const MemoryLine& a, const MemoryLine& b) {
    return std::tie(a.nodes.back(), a.kind, a.text) < std::tie(b.nodes.back(), b.kind, b.text);
  });
  if (lines.size() > most) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  }
  return lines;
}

}  // namespace kernelpro::agents
