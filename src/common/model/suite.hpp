// What a suite over KernelBench problems has measured: a header, and one record a problem.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/model/backend.hpp"
#include "common/model/torch_mode.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

struct ProblemId {
  int level = 0;
  int number = 0;
  auto operator<=>(const ProblemId&) const = default;
};

// "1_19", as files of candidates are called.
[[nodiscard]] std::string text_of(const ProblemId& problem);

// What all records of a file have in common.
struct SuiteHeader {
  int version = 1;
  std::string program_version;
  std::string date;     // UTC, ISO 8601
  std::string machine;  // name of the GPU or of the processor
  Backend backend = Backend::cpu;
  std::string torch;        // PyTorch's version
  std::string kernelbench;  // commit of the checkout; empty: not known
  std::string conditions;   // what else changes times: "threads 4, warm"; empty: nothing
};

// A candidate as the judge found it.
struct SuiteCandidate {
  std::string source_hash;
  std::vector<std::string> allow_precision;  // what the judge was told to accept
  Outcome outcome = Outcome::not_judged;
  std::string rule;
  std::string summary;
  std::string precision = "contract";  // or the lower precision it was accepted at
  bool suspect = false;
  bool verified = true;
  double time_ns = 0;  // median; 0: not timed
  double speedup = 0;  // over the judge's own baseline, from paired rounds
  Interval speedup_interval;
  double noise_floor = 0;
  double share_of_bound = 0;  // 0: not known
};

struct SuiteRecord {
  ProblemId problem;
  std::string name;          // the problem's file without ".py"
  std::string problem_hash;  // of that file
  std::string date;
  std::string described;                // what PyTorch says of the problem, as JSON; empty: nothing
  std::string refused;                  // why nothing can be judged by it; empty: it can
  std::string failed;                   // why PyTorch gave no answer; empty: it did
  std::vector<std::string> degenerate;  // why a trivial answer would pass, and the like
  std::map<std::string, std::vector<double>> times;  // nanoseconds of a call, by mode
  std::map<std::string, std::string> untimed;        // why a mode has no times
  std::optional<SuiteCandidate> candidate;           // none: there was none
};

}  // namespace kernelpro
