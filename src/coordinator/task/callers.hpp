// Whether a changed function does for its callers what the user's own does.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/task.hpp"
#include "coordinator/task/caller_calls.hpp"
#include "coordinator/task/caller_program.hpp"

namespace kernelpro {

// How the user builds the file; `options` as a task has them.
struct OwnBuild {
  std::string compiler;  // empty: g++
  std::vector<std::string> options;

  bool operator==(const OwnBuild&) const = default;
};

class Callers {
 public:
  // `original` has the function with its headers within. It is called first: what it cannot do
  // itself, or does by undefined behavior, is no requirement, nor what is no number at odd sizes.
  // Nor is one array as input and output where it then computes something else than with two.
  [[nodiscard]] static Result<Callers> prepare(const std::string& original,
                                               const std::string& function, const Task& task,
                                               const OwnBuild& build, std::stop_token stop);

  // What keeps `changed` from the place of the original, to be read behind "the patch": "differs
  // from your function when x and y are the same array (n=7): y[2] is 3, yours gives 4". Empty:
  // nothing.
  [[nodiscard]] Result<std::string> objection(const std::string& changed,
                                              std::stop_token stop) const;

  // The kinds of callers that the original serves; of `PlannedCall::when`, each once.
  [[nodiscard]] std::vector<std::string> served() const;

 private:
  Callers() = default;
  // A program with that build of the source, asked for all calls.
  [[nodiscard]] Result<std::vector<CallerResult>> results_of(const std::string& source,
                                                             const CallerBuild& build,
                                                             std::stop_token stop) const;
  [[nodiscard]] std::vector<std::string> unreliable(const std::vector<CallerResult>& results) const;
  [[nodiscard]] bool has_nan(const CallerResult& result) const;
  [[nodiscard]] Status call_original(const std::string& original, std::stop_token stop);
  [[nodiscard]] std::string difference(const PlannedCall& planned, const CallerResult& expected,
                                       const CallerResult& found) const;
  [[nodiscard]] double bound_of(const TensorSpec& output, const Axes& axes) const;

  struct Shared;  // what the plan points into
  std::shared_ptr<Shared> shared_;
  CallerPlan plan_;
  CallerBuild own_;
  CallerBuild checked_;
  std::vector<std::optional<CallerResult>> expected_;  // by call; none: no requirement
};

}  // namespace kernelpro
