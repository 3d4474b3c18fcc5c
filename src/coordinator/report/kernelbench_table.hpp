// What a suite over KernelBench problems comes to: candidates counted in four ways, or baselines
// alone. docs/kernelbench.md explains every column.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/model/suite.hpp"

namespace kernelpro {

struct SuiteColumn {
  std::string key;    // "as_is", "degenerate_removed", "precision_matched", "against_compile"
  std::string title;  // for people
  std::size_t problems = 0;
  std::size_t correct = 0;
  // Shares of the column's problems whose candidate is correct and more than p times as fast.
  double fast_0 = 0;
  double fast_1 = 0;
  double fast_1_5 = 0;
  double fast_2 = 0;
  // 0: of nothing.
  double mean_of_correct = 0;
  double mean_of_all = 0;     // a failure counts as 1
  double share_of_bound = 0;  // over the correct ones whose bound is known
};

// How PyTorch itself does.
struct SuiteBaselines {
  std::size_t problems = 0;
  std::size_t measured = 0;  // with times of eager-fp32
  std::size_t degenerate = 0;
  std::size_t refused = 0;
  std::size_t failed = 0;
  double tf32_gain = 0;  // geometric mean of eager-fp32 over eager-tf32; 0: of nothing
  double compile_gain = 0;
  std::size_t compiled = 0;  // with times of torch.compile
};

struct SuiteGroup {
  std::optional<int> level;  // none: over all
  std::vector<SuiteColumn> columns;
  SuiteBaselines baselines;
};

// Problems that a reader must know of: "cheated", because of "clock", "1_3" and "1_9".
struct SuiteRemark {
  std::string what;
  std::string reason;  // may be empty
  std::vector<std::string> problems;
};

struct SuiteSummary {
  bool with_candidates = false;
  std::vector<SuiteGroup> groups;  // by level; over all last, where there are several levels
  std::vector<SuiteRemark> remarks;
};

// A candidate whose time counts: passed, timed, and not suspect unless that is accepted.
[[nodiscard]] bool counts_as_correct(const SuiteRecord& record, bool accept_suspect);

// The candidate's speed-up over that mode of PyTorch; nothing when either was not timed.
[[nodiscard]] std::optional<double> speedup_over(const SuiteRecord& record,
                                                 const std::string& mode);

// `with_candidates`: a problem without a candidate is a failure, not left out. Without, only the
// baselines are summed up.
[[nodiscard]] SuiteSummary summarize_suite(const std::vector<SuiteRecord>& records,
                                           bool with_candidates, bool accept_suspect);

[[nodiscard]] std::string suite_text(const SuiteSummary& summary);
// One line a problem.
[[nodiscard]] std::string suite_listing(const std::vector<SuiteRecord>& records);
[[nodiscard]] nlohmann::json suite_json(const SuiteSummary& summary);

}  // namespace kernelpro
