// Asks one lasting process of PyTorch what problems are and how long they take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/process.hpp"
#include "common/base/result.hpp"
#include "common/model/backend.hpp"
#include "coordinator/suite/suite_json.hpp"

namespace kernelpro {

class Survey {
 public:
  // `command` is `PYTHON torch_oracle.py survey`; it is started by the first question, and again
  // by the next one when it died or something failed in it. A problem gets `timeout_ms`.
  Survey(Command command, std::int64_t timeout_ms)
      : command_(std::move(command)), timeout_ms_(timeout_ms) {}

  // Errors: `lost` and `timeout` say what became of the process over this problem, and the next
  // question may go well; `interrupted`; others mean that nothing can be asked at all.
  [[nodiscard]] Result<SurveyAnswer> ask(const std::filesystem::path& problem,
                                         const std::vector<std::string>& modes, int rounds,
                                         std::stop_token stop);

 private:
  [[nodiscard]] Result<SurveyAnswer> exchange(const std::string& question,
                                              const std::string& problem, std::stop_token stop);

  Command command_;
  std::int64_t timeout_ms_;
  std::optional<ChildProcess> process_;
};

// The environment in which PyTorch sees that GPU alone, as the driver counts; on the cpu backend
// none.
[[nodiscard]] std::map<std::string, std::string> survey_environment(Backend backend, int device);

}  // namespace kernelpro
