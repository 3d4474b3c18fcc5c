// The loop's laboratory where no worker can be reached: jobs go out as a bundle, results come back
// later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/dispatch/bundle.hpp"
#include "coordinator/loop/partners.hpp"

namespace kernelpro {

class BundleLaboratory : public Laboratory {
 public:
  BundleLaboratory(Bundle bundle, OpenOrder order, std::vector<std::string> allow_precision)
      : bundle_(std::move(bundle)),
        order_(std::move(order)),
        allow_precision_(std::move(allow_precision)) {}

  // The worker that sent the results; nothing before any came back. An error when they say that the
  // task cannot be judged.
  [[nodiscard]] Result<std::optional<WorkerDescription>> worker() const;

  // What no file asks for yet is not built anywhere.
  [[nodiscard]] Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                                        std::stop_token stop) override;
  [[nodiscard]] Result<std::optional<Evaluated>> judge(const Job& job,
                                                       std::stop_token stop) override;

  // Lets the file ask for everything that was not answered; it stays as it is if it does already.
  [[nodiscard]] Status hand_out();

  // What is known of the answers that did not come: for people, a line each.
  [[nodiscard]] std::vector<std::string> remarks() const;

 private:
  [[nodiscard]] Status check_fits(std::int64_t id, const Job& job, const Evaluated& answer) const;
  [[nodiscard]] std::vector<Bundle::Request> requests() const;

  Bundle bundle_;
  OpenOrder order_;
  std::vector<std::string> allow_precision_;
  std::vector<Job> open_jobs_;
};

}  // namespace kernelpro
