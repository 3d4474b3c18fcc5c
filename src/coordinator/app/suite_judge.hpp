// Judges the candidates of a suite, each on a task made of its problem.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/result.hpp"
#include "common/model/suite.hpp"
#include "coordinator/app/suite.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/suite/checkout.hpp"

namespace kernelpro {

class SuiteJudge {
 public:
  // `script` is torch_oracle.py. Both must outlive this.
  SuiteJudge(const SuiteRequest& request, const std::filesystem::path& script)
      : request_(request), script_(script) {}

  // What the worker says of its machine.
  [[nodiscard]] Result<WorkerDescription> describe(std::stop_token stop);

  // Puts the verdict on a source into the record of its problem, and what the lint finds degenerate
  // in that. Whatever is not the candidate's fault is a verdict `not_judged` with the reason; the
  // only error is `interrupted`. `source_hash` is kept with it.
  [[nodiscard]] Status judge(const SuiteProblem& problem, const std::filesystem::path& source,
                             const std::string& source_hash, SuiteRecord& record,
                             const EventListener& listener, std::stop_token stop);

 private:
  // The worker, started when there is none.
  [[nodiscard]] Result<WorkerClient*> worker();
  [[nodiscard]] Result<Task> make_task(const SuiteProblem& problem,
                                       const SuiteRecord& record) const;
  [[nodiscard]] Result<Verdict> verdict_on(const SuiteProblem& problem,
                                           const std::filesystem::path& source, SuiteRecord& record,
                                           const EventListener& listener, std::stop_token stop);

  const SuiteRequest& request_;
  const std::filesystem::path& script_;
  std::optional<WorkerClient> worker_;
};

}  // namespace kernelpro
