// How the judge judges: one plain value with defaults.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "worker/judge/energy_window.hpp"

namespace kernelpro {

struct JudgeSettings {
  std::string jail;                     // kernelpro-jail
  std::string runner;                   // kernelpro-runner
  std::string oracle;                   // kernelpro-oracle
  std::string torch;                    // torch_oracle.py
  bool landlock = true;                 // false: --sandbox none, every result unverified
  int threads = 1;                      // what a candidate may use
  std::int64_t memory_bytes = 0;        // of the machine
  std::int64_t call_timeout_ms = 2000;  // least time a call gets; slow tasks get more
  std::int64_t lock_timeout_ms = 120'000;
  bool timed = true;             // false: correctness only, no noise floor is measured
  bool trace = false;            // also of candidates that take long
  bool warm = false;             // timed on inputs that the cache holds already
  double timing_seconds = 0.25;  // aimed at for the rounds of one timed shape
  int least_rounds = 10;
  int most_rounds = 40;
  int held_out_shapes = 4;
  int energy_windows = 5;  // of each arm, where energy is measured
  WindowRules energy_rules;
  std::stop_token stop;  // ends a call under way as well
};

}  // namespace kernelpro
