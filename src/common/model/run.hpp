// A run: one task, one way to search, one budget, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/judging.hpp"
#include "common/model/llm.hpp"
#include "common/model/node.hpp"
#include "common/model/objective.hpp"
#include "common/model/task.hpp"
#include "common/model/workers.hpp"

namespace kernelpro {

// What the proposers are told of how a candidate runs.
enum class Feedback {
  none,   // times alone
  raw,    // the figures of its profile
  tools,  // class and findings
};

[[nodiscard]] std::string_view name_of(Feedback feedback);
[[nodiscard]] std::optional<Feedback> parse_feedback(std::string_view name);

struct RunSettings {
  JudgingSettings judging;
  Workers workers;
  std::string search = "mcts";     // horizon, mcts, greedy, beam, elites or random
  std::string preset = "default";  // of mcts: default, steady or paper
  std::uint64_t seed = 1;          // of the search; the judge's seeds are secret
  std::int64_t evaluations = 100;  // budget
  double seconds = 0;              // budget of wall time; 0: none
  int in_flight = 2;               // how many nodes may be under way at a time
  // So many of them must have ended before more are proposed; 0: all, which makes batches. With 1,
  // proposal n depends on the results up to n - in_flight alone, in whatever order they arrive.
  int step = 0;
  std::vector<Candidate> starts;   // to search from, beside the baseline
  std::vector<std::string> tiers;  // of the playbook; empty: all
  std::vector<std::string> moves;  // ids; empty: all of the tiers
  bool fast_math = true;           // whether moves may ask for it; the judge decides
  // Tunables of a node are swept by the tuner as one expansion; false: a node steps one of them, as
  // in runs that were begun before there was a tuner.
  bool sweep = true;
  double stop_at = 0;           // the run ends once its best has this share of the bound; 0: never
  bool accept_suspect = false;  // whether a suspect result may become the best
  std::vector<std::string> allow_precision;
  Feedback feedback = Feedback::tools;    // on a GPU; a CPU has times alone
  Objective objective = Objective::time;  // decides among the finalists; the search is by time
  std::optional<LlmSettings> llm;         // none: the playbook alone proposes
  // Where lessons of other runs come from and go to: "on" (the store's), "off", a file, or
  // "run:NAME" (what that run was told, and nowhere to).
  std::string memory = "off";
};

// waiting: for the results of a bundle, or for the answers of a batch.
enum class RunState { running, waiting, interrupted, finished };

[[nodiscard]] std::string_view name_of(RunState state);
[[nodiscard]] std::optional<RunState> parse_run_state(std::string_view name);

// What a run waits for: results of its worker, answers of models.
struct Awaited {
  std::int64_t results = 0;
  std::int64_t answers = 0;
};

struct Run {
  std::string id;  // "gemm-1": task name and number, unique in its store
  std::string created;
  std::string program_version;
  Task task;
  std::string task_hash;
  std::string task_path;  // where it was loaded from, for `resume` to see changes
  RunSettings settings;
  RunState state = RunState::running;
  // Once finished: the best of its finalists by its objective, as they were measured side by side.
  // One that is not confirmed is there when nothing could be confirmed and it was clean before.
  NodeId best = root_node;
  std::int64_t final_phases = 0;  // how often its finalists were measured, to the end
  std::vector<Finalist> ranking;  // the best first; empty where the objective is time
  Awaited awaited;                // while it waits; not kept
  std::string ended_because;  // "budget of 100 evaluations", "nothing left to try", "interrupted"
  std::int64_t wall_ns = 0;   // spent so far, over all times it was resumed
  std::int64_t work_ns = 0;   // the part of it spent building, judging and measuring
  std::string machine;
};

// How much the lower end of an interval must exceed the best so far to replace it: an estimate that
// grows by noise at each replacement would be a lie by the end.
inline constexpr double clear_of_best = 1.01;

// Whether a passed result of that kind may be a run's best: in doubt or of lower precision only
// where the settings allow it.
[[nodiscard]] bool may_be_best(const RunSettings& settings, bool suspect,
                               const std::string& precision);
[[nodiscard]] bool may_be_best(const RunSettings& settings, const Node& node);

// What to expect of a passed node where no other program disturbs it: for the search, and for what
// is worth measuring again. Nothing is claimed by it.
[[nodiscard]] double expected_speedup(const Node& node);

// Whether a passed node is worth another look: its interval lies above the baseline, or what is
// expected of it does so by 5 %, as wide as an interval may be on a noisy machine.
[[nodiscard]] bool reads_faster(const Node& node);

// Whether the node's claim stands on a final phase: faster than the baseline itself, or by the
// run's objective better.
[[nodiscard]] bool is_confirmed(const Run& run, const Node& node);

// A branch the search will not enter again, and why.
struct Closure {
  NodeId node = root_node;
  std::int64_t at = 0;  // place in the run's sequence of events
  std::string reason;
};

}  // namespace kernelpro
