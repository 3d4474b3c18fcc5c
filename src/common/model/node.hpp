// The nouns of a search: a proposal becomes a node of a run once it is tried.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/candidate.hpp"
#include "common/model/finding.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

using NodeId = std::int64_t;
inline constexpr NodeId root_node = 0;  // the task's baseline
inline constexpr NodeId no_node = -1;

// What keeps a passed candidate from being faster.
enum class Bottleneck {
  unknown,
  memory,    // near the measured bandwidth, or bound by it
  compute,   // near the measured arithmetic rate, or bound by it
  latency,   // far from both: dependent operations, scattered accesses, one thread
  overhead,  // so short that starting threads or calls costs most of it
};

[[nodiscard]] std::string_view name_of(Bottleneck bottleneck);
[[nodiscard]] std::optional<Bottleneck> parse_bottleneck(std::string_view name);

// First cut: the roofline class of a passed candidate.
struct Diagnosis {
  Bottleneck bottleneck = Bottleneck::unknown;
  double share_of_bound = 0;  // geometric mean over the timed shapes
  std::string text;           // one sentence for people
  // Where it was profiled: the class of its main kernel and what the tools found, largest predicted
  // gain first.
  KernelClass kind = KernelClass::unknown;
  std::vector<Finding> findings;
  std::map<std::string, double> figures;  // of its main kernel, where these are to be shown
};

// What to try next: a move made concrete.
struct Proposal {
  std::string move;           // id of the move
  std::string site;           // where it is applied: "loops i, j"; empty: the whole candidate
  std::string plan;           // one sentence for people
  double predicted_gain = 1;  // factor over the parent
  Candidate candidate;
};

enum class NodeState {
  in_flight,
  judged,
  duplicate,
  proposing,  // its parent is chosen, models are asked for the candidate
  unwritten,  // no candidate came of that; the summary says why
};

[[nodiscard]] std::string_view name_of(NodeState state);
[[nodiscard]] std::optional<NodeState> parse_node_state(std::string_view name);

// In a node's reasons: from which code models learned that wrote it.
inline constexpr std::string_view learned_prefix = "learned from ";
// The places that follow it there, each once.
[[nodiscard]] std::vector<std::string> learned_from(const std::vector<std::string>& reasons);

// A tried proposal. The source is kept apart, by its hash: a run has many nodes.
struct Node {
  NodeId id = root_node;
  NodeId parent = no_node;
  std::string move;  // empty at the root
  std::string site;
  std::string plan;
  double predicted_gain = 1;
  std::vector<std::string> reasons;  // why the search chose its parent
  std::string source_hash;           // of the source as it is
  std::string compiler;
  std::vector<std::string> options;
  NodeState state = NodeState::in_flight;
  bool by_models = false;     // models were asked for it; else the playbook's or the user's
  std::int64_t born = 0;      // place of its birth in the run's sequence of events
  std::int64_t ended = 0;     // place of its verdict there; 0: none yet
  NodeId same_as = no_node;   // duplicates: which node was tried before
  std::string candidate_key;  // hash of normalized source and build wishes
  std::string binary_hash;
  Outcome outcome = Outcome::not_judged;
  std::string rule;
  std::string summary;
  std::string precision = "contract";
  bool suspect = false;
  bool verified = true;
  bool screened = false;  // clearly slower than the incumbent: timed in two short rounds only
  double speedup = 0;     // over the baseline
  Interval speedup_interval;
  bool at_least = false;  // the truth is at least that speed-up: see Timing
  double likely = 0;      // what it seems to be without other programs: see there; 0: as it reads
  // The last final phase of the run that measured it as a finalist; 0: none did.
  std::int64_t final_phase = 0;
  // Its figures are of a final phase: against the baseline itself, not in doubt, and faster.
  bool confirmed = false;
  Diagnosis diagnosis;
  std::int64_t build_ns = 0;
  std::int64_t judge_ns = 0;
};

}  // namespace kernelpro
