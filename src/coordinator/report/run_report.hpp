// What came of a run: its best nodes, its verdicts, what each move was worth.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/model/node.hpp"
#include "common/model/run.hpp"
#include "coordinator/report/llm_summary.hpp"

namespace kernelpro {

struct MoveStatistics {
  std::string move;
  std::string tier;  // empty: not known
  std::int64_t tried = 0;
  std::int64_t passed = 0;
  double mean_gain = 0;  // geometric mean of passed nodes over their parents; 0: none passed
  double best_gain = 0;
};

// A node that reads faster than the best of a finished run, and why it is not the best.
struct FasterNode {
  NodeId node = root_node;
  std::string why;
};

struct RunReport {
  Run run;
  std::string judged_on;    // the processor or GPU, from a certificate; empty: what the run says
  std::vector<Node> nodes;  // as given
  // What a finished run calls its best, until then the fastest node that the settings let be it;
  // and the fastest among those whose whole lineage is build options and the move `parallel`. The
  // root when nothing beats it.
  NodeId best = root_node;
  NodeId flags_only_best = root_node;
  bool confirmed = false;  // the best was, when the finalists were measured
  // Of a finished run whose objective is time, the fastest first.
  std::vector<FasterNode> faster;
  std::vector<std::string> remarks;  // on the best's verdict; from its certificate
  std::int64_t evaluations = 0;      // nodes judged, the root and not_judged ones aside
  std::int64_t found_at = 0;  // evaluations until the best was there; 0: the root is the best
  std::int64_t duplicates = 0;
  std::int64_t in_flight = 0;
  std::int64_t proposing = 0;  // chosen, not written yet
  std::int64_t unwritten = 0;  // no candidate came of it
  std::optional<LlmSummary> llm;
  std::map<std::string, std::int64_t> verdicts;  // by outcome, the root aside
  std::vector<double> progress;                  // best speed-up after each evaluation
  std::vector<MoveStatistics> moves;             // the most tried first
};

// `tiers`: from a move's id to its tier. Nodes may come in any order.
[[nodiscard]] RunReport make_run_report(const Run& run, const std::vector<Node>& nodes,
                                        const std::map<std::string, std::string>& tiers);

// As many of `RunReport::faster` are shown.
inline constexpr std::size_t most_faster_shown = 3;

// The node of that id; nullptr when there is none.
[[nodiscard]] const Node* find_node(const std::vector<Node>& nodes, NodeId id);

// The nodes from the root down to `id`; as far as parents are known.
[[nodiscard]] std::vector<const Node*> lineage_of(const std::vector<Node>& nodes, NodeId id);

// The nodes that count as evaluations, in the order of their verdicts.
[[nodiscard]] std::vector<const Node*> evaluations_in_order(const std::vector<Node>& nodes);

// What every form of the report says of a run, label and value.
[[nodiscard]] std::vector<std::vector<std::string>> run_facts(const RunReport& report);

// What each move was worth: a header, and a row a move.
[[nodiscard]] const std::vector<std::string>& move_header();
[[nodiscard]] std::vector<std::vector<std::string>> move_rows(const RunReport& report);

// A curve in at most `columns` characters of rising height, on a logarithmic scale from 1 up.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t columns);

[[nodiscard]] std::string run_report_text(const RunReport& report);
[[nodiscard]] std::string run_report_markdown(const RunReport& report);
[[nodiscard]] nlohmann::json run_report_json(const RunReport& report);

}  // namespace kernelpro
