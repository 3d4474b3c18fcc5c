// Records of a suite as a run would write them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/model/suite.hpp"

namespace kernelpro::testing {

// A problem whose every mode took one time, in nanoseconds.
inline SuiteRecord suite_record(ProblemId problem, const std::map<std::string, double>& times) {
  SuiteRecord record;
  record.problem = problem;
  record.name = std::to_string(problem.number) + "_Made_up";
  for (const auto& [mode, time] : times) {
    record.times[mode] = {time};
  }
  return record;
}

// One that passed, `speedup` times as fast as eager-fp32.
inline SuiteCandidate passed_candidate(double speedup, double time_ns = 100) {
  SuiteCandidate candidate;
  candidate.source_hash = "0123";
  candidate.outcome = Outcome::passed;
  candidate.time_ns = time_ns;
  candidate.speedup = speedup;
  candidate.speedup_interval = {speedup * 0.9, speedup * 1.1};
  candidate.share_of_bound = 0.5;
  return candidate;
}

inline SuiteRecord solved_record(ProblemId problem, double time_ns) {
  SuiteRecord record = suite_record(problem, {{fp32_mode, 1000}});
  record.candidate = passed_candidate(1000 / time_ns, time_ns);
  return record;
}

}  // namespace kernelpro::testing
