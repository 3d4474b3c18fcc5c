#include "coordinator/propose/agents/section.hpp"

#include <algorithm>
#include <array>

#include "coordinator/propose/agents/memory.hpp"
#include "coordinator/propose/agents/sections.hpp"

namespace kernelpro::agents {

namespace {

constexpr auto sections = std::to_array<Section>({
    {"contract", true, contract_section},  {"backend", true, backend_section},
    {"language", true, language_section},  {"machine", true, machine_section},
    {"task", true, task_section},          {"reference", true, reference_section},
    {"parent", false, parent_section},     {"profile", false, profile_section},
    {"evidence", false, evidence_section}, {"history", false, history_section},
    {"siblings", false, siblings_section}, {"memory", false, memory_section},
    {"lessons", false, lessons_section},   {"moves", false, moves_section},
    {"move", false, move_section},         {"code", false, code_section},
    {"plan", false, plan_section},         {"candidate", false, candidate_section},
    {"budget", false, budget_section},
});

// Moves are ranked; those that promise least only lengthen the prompt.
constexpr std::size_t most_moves = 16;

}  // namespace

const Section* find_section(const std::string& name) {
  const auto* found = std::find_if(sections.begin(), sections.end(),
                                   [&name](const Section& one) { return name == one.name; });
  return found == sections.end() ? nullptr : found;
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  names.reserve(sections.size());
  for (const Section& one : sections) {
    names.emplace_back(one.name);
  }
  return names;
}

Shown everything(const Scene& scene) {
  const AgentOrder& order = *scene.order;
  Shown shown;
  shown.history = order.branch.size() + 1;
  shown.siblings = order.siblings.size();
  shown.lessons = std::max<std::size_t>(order.lessons.size(), order.facts.empty() ? 0 : 1);
  shown.memory = remember(order.all).size();
  shown.code = scene.code.size();
  shown.findings = order.parent_tried.node.diagnosis.findings.size();
  shown.moves = std::min(order.moves.size(), most_moves);
  return shown;
}

}  // namespace kernelpro::agents
