// What the judge says of a candidate, and the evidence.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/chacha.hpp"
#include "common/model/energy.hpp"
#include "common/model/formula.hpp"
#include "common/model/interval.hpp"

namespace kernelpro {

enum class Outcome {
  passed,
  build_failed,
  launch_failed,
  crashed,
  timed_out,
  out_of_memory,
  incorrect,
  unstable,
  cheated,
  not_judged,  // our fault: worker lost, device busy, oracle failed; never charged to the candidate
};

[[nodiscard]] std::string_view name_of(Outcome outcome);
[[nodiscard]] std::optional<Outcome> parse_outcome(std::string_view name);

// The order of judging; a verdict names the stage it ended in.
enum class Stage {
  build,
  smoke,
  timed_shapes,
  held_out,
  distributions,
  repeatability,
  memory,
  timing,
  done
};

[[nodiscard]] std::string_view name_of(Stage stage);

enum class Comparison { faster, same, slower, not_timed };

[[nodiscard]] std::string_view name_of(Comparison comparison);

// How far a measured speed-up may be from the truth, share by share; 0.01 is 1 %. Nothing is called
// faster that does not exceed their sum.
struct ErrorBudget {
  double noise = 0;  // two processes of one binary against each other
  double clock = 0;  // by how much a claimed time may fall short of ours and is believed
  double drift = 0;  // by how much the incumbent may run slower in pairs than alone
  double empty = 0;  // how far empty rounds spread, and on a processor what they hide
  // On a GPU, in short calls: what the candidate saves in rounds and no call by itself confirms.
  double overlap = 0;
  [[nodiscard]] double total() const { return noise + clock + drift + empty + overlap; }
};

// Candidate against incumbent at one timed shape.
struct ShapeTiming {
  Axes shape;
  int calls = 0;                         // K: calls in a round
  bool flushed = false;                  // the caches were flushed before each round
  bool warm = false;                     // the inputs were read just before each round
  std::vector<double> candidate_rounds;  // mean nanoseconds per call, one entry a round
  std::vector<double> incumbent_rounds;  // the partner rounds on the same inputs
  double candidate_ns = 0;               // median over rounds
  Interval candidate_interval;
  double incumbent_ns = 0;
  Interval incumbent_interval;
  double speedup = 0;         // incumbent over candidate, from the paired rounds
  Interval speedup_interval;  // 95 % bootstrap
  // The incumbent's call while no candidate's process was there: the smaller median of before and
  // after. 0: not measured.
  double incumbent_alone_ns = 0;
  // The incumbent was faster alone than in the pairs, beyond what the budget allows: the speed-up
  // is against its time alone, and the truth is at least that.
  bool at_least = false;
  // On a busy machine: what the speed-up seems to be without the other programs. Of both arms, what
  // they waited for a processor is left out, as the kernel counts it. No claim stands on it. 0: the
  // machine was quiet.
  double likely = 0;
  int dropped_pairs = 0;    // disturbed by other programs, dropped whole and repeated
  double noise_floor = 0;   // as a fraction: 0.01 is 1 %
  ErrorBudget budget = {};  // the noise floor is its first part
  Comparison comparison = Comparison::not_timed;
  double clock_gap = 0;    // share of the worker's clock that claims leave out
  double clock_noise = 0;  // what that gap may be on this machine
  double prepare_ns = 0;   // mean cost of kp_prepare, 0 without
  // From a pass of its own that traces single calls; 0 launches: it did not take place.
  int launches = 0;           // of a call: kernels, copies and fills
  double gpu_ns = 0;          // from the first one's start to the last one's end
  double launch_ns = 0;       // what a call takes beyond that: the cost of launching
  double own_share = 0;       // of the GPU's time, in kernels of the candidate's own source
  double bound_ns = 0;        // the roofline's least time on measured ceilings
  double share_of_bound = 0;  // bound_ns / candidate_ns
  std::string bound_by;       // "memory" or "compute"
  bool screened = false;      // clearly slower in the screen: timing ended there
};

struct Timing {
  std::vector<ShapeTiming> shapes;
  double speedup = 0;  // geometric mean over shapes
  Interval speedup_interval;
  double noise_floor = 0;
  double budget = 0;      // what a speed-up has to exceed: the sum of all tolerated errors
  bool at_least = false;  // at one of the shapes
  double likely = 0;      // see there; 0: the machine was quiet at all of them
  Comparison comparison = Comparison::not_timed;
  bool brief = false;  // few pairs, as a search needs them: no claim stands on it alone
};

// One check that ran, for the certificate: what was drawn and what came out.
struct CheckRecord {
  Stage stage = Stage::smoke;
  Axes shape;
  std::string distribution;
  Key key;                    // of the values
  double error = 0;           // e(candidate)
  double baseline_error = 0;  // e(baseline) on the same inputs, or on nudged ones where that counts
  double bound = 0;           // what the error had to stay within
  std::int64_t excused = 0;   // elements where the baseline itself was not finite
};

struct Verdict {
  Outcome outcome = Outcome::not_judged;
  Stage stage = Stage::build;          // where judging ended; `done` when every stage ran
  std::string rule;                    // which rule was broken: "late_work", "clock", "guard" …
  std::string summary;                 // one sentence for people
  std::vector<std::string> evidence;   // compiler text, first wrong index, signal, syscall …
  std::string precision = "contract";  // or the lower precision it was accepted at
  bool suspect = false;                // there is doubt about the candidate: the reasons follow
  std::vector<std::string> suspicions;
  // What was odd about the machine or the incumbent and makes a claim no less true: a busy machine,
  // a baseline that varies.
  std::vector<std::string> remarks;
  bool verified = true;  // false under --sandbox none
  std::vector<CheckRecord> checks;
  std::vector<std::string> rules_run;
  Timing timing;
  std::optional<Energy> energy;  // measured only when asked for
  std::int64_t build_ns = 0;     // 0 when the build was cached
  std::int64_t judge_ns = 0;     // every stage after the build
};

}  // namespace kernelpro
