// What was tried before, and what that taught.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "coordinator/propose/agents/condense.hpp"
#include "coordinator/propose/agents/memory.hpp"
#include "coordinator/propose/agents/sections.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

constexpr std::size_t longest_plan = 400;
constexpr std::size_t longest_reason = 300;

bool has_passed(const Node& node) {
  return node.state == NodeState::judged && node.outcome == Outcome::passed;
}

std::string excess_note(const Tried& tried) {
  const std::optional<double> excess = tried.verdict ? excess_of(*tried.verdict) : std::nullopt;
  return excess ? fmt::format(" The error was {:.3g} times the bound.", *excess) : "";
}

std::string result_text(const Tried& tried, const Node* parent) {
  const Node& node = tried.node;
  if (node.state == NodeState::duplicate) {
    return node.same_as == no_node
               ? "It is the same as one that was tried before."
               : fmt::format("It is the same machine code as node {}.", node.same_as);
  }
  if (!has_passed(node)) {
    const std::string rule = node.rule.empty() ? "" : fmt::format(" ({})", node.rule);
    return fmt::format("Failed: {}{}: {}.{}", name_of(node.outcome), rule,
                       shortened(one_line(node.summary), longest_reason), excess_note(tried));
  }
  std::string out = fmt::format("Predicted {}", factor_text(node.predicted_gain));
  if (parent != nullptr && has_passed(*parent) && parent->speedup > 0) {
    out +=
        fmt::format(", measured {} over its parent", factor_text(node.speedup / parent->speedup));
  }
  return out + fmt::format("; {} over the baseline{}.", factor_text(node.speedup),
                           node.suspect ? ", which the judge calls suspect" : "");
}

std::string sentence(const std::string& text) {
  return text.empty() || text.ends_with('.') || text.ends_with("…") ? text : text + ".";
}

std::string entry_text(const Tried& tried, const Node* parent) {
  const Node& node = tried.node;
  if (node.id == root_node) {
    return "- node 0: the baseline.\n";
  }
  return fmt::format("- node {}, `{}`: {} {}\n", node.id, node.move,
                     sentence(shortened(one_line(node.plan), longest_plan)),
                     result_text(tried, parent));
}

std::string dropped_text(std::size_t dropped, const char* what) {
  return dropped == 0 ? "" : fmt::format("({} {} left out)\n", dropped, what);
}

std::string tried_text(const AgentOrder& order, std::size_t most) {
  std::vector<const Tried*> nodes;
  for (const Tried& one : order.siblings) {
    if (one.node.state != NodeState::unwritten && one.node.state != NodeState::proposing) {
      nodes.push_back(&one);
    }
  }
  if (nodes.empty()) {
    return "";
  }
  const std::size_t dropped = nodes.size() - std::min(nodes.size(), most);
  std::string out =
      "## Already tried from this parent\n\nDo something else, or do it so that it cannot fail for "
      "the same reason.\n\n" +
      dropped_text(dropped, "earlier");
  for (std::size_t i = dropped; i < nodes.size(); ++i) {
    out += entry_text(*nodes[i], &order.parent_tried.node);
  }
  return out;
}

// Those who are asked at the same time see the same: without a word about it all would answer
// alike.
std::string asked_beside_text(int count) {
  if (count == 0) {
    return "";
  }
  return fmt::format(
      "\nWhoever plans {} is told what you are told, so count on the {} to be taken: choose one of "
      "another kind that could gain as much.\n",
      count == 1 ? "the one that has no plan yet" : "those that have no plan yet",
      count == 1 ? "first idea that comes to mind"
                 : fmt::format("first {} ideas that come to mind", count));
}

std::string under_way_text(const AgentOrder& order) {
  if (order.under_way == 0) {
    return "";
  }
  std::string out = fmt::format(
      "## Under way from this parent\n\n{} from this parent {} under way, with results that are "
      "not known yet.\n",
      counted(static_cast<std::size_t>(order.under_way), "other step"),
      order.under_way == 1 ? "is" : "are");
  out += order.planned.empty() ? "" : "\n";
  for (const Node& one : order.planned) {
    out += fmt::format("- node {}, `{}`: {}\n", one.id, one.move,
                       sentence(shortened(one_line(one.plan), longest_plan)));
  }
  return out + asked_beside_text(order.under_way - static_cast<int>(order.planned.size()));
}

std::string lines_text(const std::vector<MemoryLine>& lines, bool measured) {
  std::string out;
  for (const MemoryLine& line : lines) {
    if (line.measured == measured) {
      out += fmt::format("- {}: {} (node{} {})\n", name_of(line.kind), line.text,
                         line.nodes.size() == 1 ? "" : "s", fmt::join(line.nodes, ", "));
    }
  }
  return out;
}

}  // namespace

std::string history_section(const Scene& scene, const Shown& shown) {
  const AgentOrder& order = *scene.order;
  std::vector<const Tried*> nodes;
  nodes.reserve(order.branch.size() + 1);
  for (const Tried& one : order.branch) {
    nodes.push_back(&one);
  }
  nodes.push_back(&order.parent_tried);
  if (nodes.size() < 2 || shown.history == 0) {
    return "";
  }
  const std::size_t dropped = nodes.size() - std::min(nodes.size(), shown.history);
  std::string out = fmt::format("## How {} came to be\n\nEach was made from the one before.\n\n{}",
                                has_failed(order.parent_tried.node) ? "it" : "the parent",
                                dropped_text(dropped, "earlier"));
  for (std::size_t i = dropped; i < nodes.size(); ++i) {
    out += entry_text(*nodes[i], i == 0 ? nullptr : &nodes[i - 1]->node);
  }
  return out;
}

std::string siblings_section(const Scene& scene, const Shown& shown) {
  const AgentOrder& order = *scene.order;
  const std::string tried = shown.siblings == 0 ? "" : tried_text(order, shown.siblings);
  const std::string under_way = under_way_text(order);
  return tried + (tried.empty() || under_way.empty() ? "" : "\n") + under_way;
}

std::string memory_section(const Scene& scene, const Shown& shown) {
  if (shown.memory == 0) {
    return "";
  }
  std::vector<MemoryLine> lines = remember(scene.order->all);
  if (lines.size() > shown.memory) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(shown.memory));
  }
  if (lines.empty()) {
    return "";
  }
  const std::string measured = lines_text(lines, true);
  const std::string inferred = lines_text(lines, false);
  std::string out = "## Known from this run\n";
  out += measured.empty() ? "" : "\nMeasured:\n\n" + measured;
  return out + (inferred.empty() ? "" : "\nInferred:\n\n" + inferred);
}

std::string budget_section(const Scene& scene, const Shown& /*shown*/) {
  const AgentOrder& order = *scene.order;
  std::string out = fmt::format(
      "## Budget\n\n{} left, this one included",
      counted(static_cast<std::size_t>(std::max<std::int64_t>(order.evaluations_left, 0)),
              "evaluation"));
  if (order.under_way > 0) {
    out += fmt::format(" and {} that {} under way", order.under_way,
                       order.under_way == 1 ? "is" : "are");
  }
  if (order.tokens_left) {
    out += fmt::format(
        ", and {}",
        counted(static_cast<std::size_t>(std::max<std::int64_t>(*order.tokens_left, 0)), "token"));
  }
  return out + fmt::format(". What comes of this will be node {}.\n", order.node);
}

}  // namespace kernelpro::agents
