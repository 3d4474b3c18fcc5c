// Why a candidate did not pass, before it becomes a verdict.
#pragma once

#include <string>
#include <vector>

#include "common/model/verdict.hpp"
#include "worker/runner/runner_process.hpp"
#include "worker/tensor/buffers.hpp"

namespace kernelpro {

struct Failure {
  Outcome outcome = Outcome::not_judged;
  std::string rule;
  std::string summary;
  std::vector<std::string> evidence;
};

// What an exchange that did not end in a good reply says of the candidate. `doing` completes "while
// …"; `plan` names the tensors of a faulting address and may be null.
[[nodiscard]] Failure explain_exchange(const Exchange& exchange, RunnerProcess& process,
                                       const std::string& doing, const BufferPlan* plan);

// The failure for forbidden system calls, which takes precedence over everything else they caused.
[[nodiscard]] Failure sandbox_failure(const std::vector<std::string>& violations);

// When one of our own arms failed while a candidate's process was there: `timeout` where it missed
// its time, else `lost`.
[[nodiscard]] Error ours_failed(const Failure& failure, const std::string& whose);

}  // namespace kernelpro
