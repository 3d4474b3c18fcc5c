// The loop's laboratory: workers with the task open. Whoever is free gets the next job; one that is
// lost gives its job back and is started again.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/model/workers.hpp"
#include "coordinator/app/crew.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/loop/partners.hpp"

namespace kernelpro {

// An error where these places cannot judge side by side on that backend: they would wait for one
// another, or name a device that there is none of.
[[nodiscard]] Status check_places(const std::vector<WorkerPlace>& places,
                                  const JudgingSettings& judging);

class WorkerLaboratory : public Laboratory {
 public:
  // Starts the workers side by side, of a cluster the first alone. An error where one cannot start
  // or open the task, or where their devices differ: what is faster on one may be slower on the
  // other. `begun_on`: the machine that earlier results of the run are from; none: there are none.
  [[nodiscard]] static Result<std::unique_ptr<WorkerLaboratory>> open(
      const std::vector<WorkerPlace>& places, OpenOrder order,
      std::vector<std::string> allow_precision, const std::optional<MachineRecord>& begun_on,
      std::stop_token stop);

  // The machine of the first worker.
  [[nodiscard]] const WorkerDescription& machine() const { return machine_; }
  // Workers that were lost for good: for people, a line each.
  [[nodiscard]] std::vector<std::string> remarks() const { return crew_.remarks(); }

  [[nodiscard]] int workers() const override { return crew_.size(); }
  [[nodiscard]] bool times_here() const override;
  [[nodiscard]] Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                                        std::stop_token stop) override;
  // What the search asks for is judged by whoever is free; finalists by the first worker, so that
  // what wins elsewhere is confirmed in one place.
  [[nodiscard]] Result<std::optional<Evaluated>> judge(const Job& job,
                                                       std::stop_token stop) override;

 private:
  WorkerLaboratory(const std::vector<WorkerPlace>& places, OpenOrder order,
                   std::vector<std::string> allow_precision);

  // A worker at that place with the task open, for builds alone if so.
  [[nodiscard]] Result<WorkerClient> start_worker(const WorkerPlace& place, bool build_only,
                                                  std::stop_token stop) const;
  [[nodiscard]] Status start_all(const std::optional<MachineRecord>& begun_on,
                                 std::stop_token stop);
  // Has a worker do it. The next one tries when it dies, unless the work seems to be to blame.
  template <typename Answer>
  [[nodiscard]] Result<Answer> have_done(bool reference,
                                         const std::function<Result<Answer>(WorkerClient&)>& work,
                                         std::stop_token stop);
  [[nodiscard]] Result<std::vector<BuildSummary>> build_ahead(
      const std::vector<Candidate>& candidates, std::stop_token stop);

  OpenOrder order_;
  std::vector<std::string> allow_precision_;
  WorkerDescription machine_;
  std::string kind_;  // of device; set before any worker is asked for later
  std::optional<WorkerPlace> builds_at_;
  std::optional<WorkerClient> builder_;  // builds while others judge; used by one thread
  int builders_lost_ = 0;
  Crew crew_;  // the last member: its threads use the others
};

}  // namespace kernelpro
