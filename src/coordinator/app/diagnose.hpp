// What holds a kernel or a program back, on a GPU or on processors.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "coordinator/app/candidate_file.hpp"
#include "coordinator/app/progress.hpp"

namespace kernelpro {

// One of four: task and source, a program, a report of nsys, a profile that was kept.
struct DiagnoseRequest {
  std::string task;    // a name, folder or task.toml
  std::string source;  // a file, a shared object, or one of the task's own implementations by name
  std::vector<std::string> program;  // and its arguments
  std::filesystem::path nsys;
  std::filesystem::path profile;
  std::string shape;  // "m=512,n=512"; empty: the first timed one
  BuildWishes build;
  // Not given: that of a source's extension or of the task's own implementation, else a GPU; for a
  // program a GPU where there is one.
  std::optional<Backend> backend;
  JudgingSettings judging{.backend = Backend::cuda};  // its backend is set by these rules
  bool foreign = false;  // the source came from elsewhere: nothing beside it is read for it
  bool all_tools = false;
  bool rules = false;  // ask ncu for its own rules too
  bool counters = true;
  double timeout_seconds = 0;
  // Whose runs say how far the tools' predictions are believed; one that is not there says nothing.
  std::filesystem::path store;
  std::filesystem::path keep;  // folder for raw files, profile and diagnosis; empty: none is kept
};

struct DiagnosisOutcome {
  Diagnosed diagnosed;
  std::optional<Error> not_kept;  // why its files were not written
};

[[nodiscard]] Result<DiagnosisOutcome> diagnose(const DiagnoseRequest& request,
                                                const Watcher& watcher, std::stop_token stop);

}  // namespace kernelpro
