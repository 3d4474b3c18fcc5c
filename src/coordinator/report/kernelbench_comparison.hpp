// Two suites over the same problems against each other.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/suite.hpp"

namespace kernelpro {

// Below this many problems nothing is claimed: of five, even five that agree are chance once in 16.
inline constexpr std::size_t least_pairs = 6;

struct SuitePair {
  ProblemId problem;
  double here_ns = 0;
  double there_ns = 0;
  double floor = 0;  // smaller differences (a fraction) are none
};

struct SuiteComparison {
  bool of_candidates = false;    // else of eager-fp32
  std::size_t in_both = 0;       // problems
  std::vector<SuitePair> pairs;  // those with a time that counts in both
  double ratio = 1;              // geometric mean of there over here: above 1, here is faster
  Interval interval;             // 95 % bootstrap over problems; 0 to infinity: too few
  double sign_p = 1;             // of the two-sided sign test
  std::size_t faster = 0;        // here
  std::size_t slower = 0;
  std::size_t same = 0;
  std::vector<ProblemId> only_here;  // solved, of the problems in both
  std::vector<ProblemId> only_there;

  [[nodiscard]] bool differ() const { return interval.low > 1 || interval.high < 1; }
};

// bad_input when no problem is in both, or only one of them has candidates.
[[nodiscard]] Result<SuiteComparison> compare_suites(const std::vector<SuiteRecord>& here,
                                                     const std::vector<SuiteRecord>& there,
                                                     bool accept_suspect);

// The chance that of faster + slower tosses of a fair coin the sides differ by as much or more.
[[nodiscard]] double sign_test(std::size_t faster, std::size_t slower);

// `here` and `there`: what to call them.
[[nodiscard]] std::string comparison_text(const SuiteComparison& comparison,
                                          const std::string& here, const std::string& there);
[[nodiscard]] nlohmann::json comparison_json(const SuiteComparison& comparison);

}  // namespace kernelpro
