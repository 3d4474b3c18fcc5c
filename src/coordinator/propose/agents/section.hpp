// What prompts are made of: each section is a pure function of what is known.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "coordinator/propose/agents/answers.hpp"
#include "coordinator/propose/agents/code_library.hpp"
#include "coordinator/propose/agents/order.hpp"

namespace kernelpro::agents {

struct PromptSet;

// What a prompt is about.
struct Scene {
  const AgentOrder* order = nullptr;
  const PromptSet* prompts = nullptr;
  const Plan* plan = nullptr;            // coder, reviewer
  const Candidate* candidate = nullptr;  // reviewer: what was written
  // What fits the plan, the best first.
  std::vector<CodePassage> code = {};  // NOLINT(readability-redundant-member-init)
  // What the tools of code look into; empty: there are none.
  std::string indexed = {};  // NOLINT(readability-redundant-member-init)
};

// How much of the lists is shown: the newest, the most promising. docs/agents.md has the order in
// which these shrink.
struct Shown {
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

  std::size_t history = all;    // nodes on the way to the parent
  std::size_t siblings = all;   // children of the parent
  std::size_t lessons = all;    // moves that other runs tell of; 0: no facts of theirs either
  std::size_t memory = all;     // lines
  std::size_t code = all;       // passages
  bool example = true;          // of the planned move
  std::size_t findings = all;   // of the parent
  bool advice = true;           // of moves, beside their titles
  std::size_t moves = all;      // that fit
  std::size_t reference = all;  // bytes of its source
};

struct Section {
  const char* name;
  bool steady;  // the same in all calls of a run
  // Empty: there is nothing to say. Its heading belongs to it.
  std::string (*text)(const Scene& scene, const Shown& shown);
};

// nullptr: there is none of that name.
[[nodiscard]] const Section* find_section(const std::string& name);
[[nodiscard]] std::vector<std::string> section_names();

// How many entries the lists have when all of them are shown.
[[nodiscard]] Shown everything(const Scene& scene);

}  // namespace kernelpro::agents
