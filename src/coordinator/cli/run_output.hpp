// What the commands about runs print in the same way.
#pragma once

#include <optional>
#include <string>

#include "coordinator/app/machine_load.hpp"
#include "coordinator/options/options.hpp"
#include "coordinator/report/run_report.hpp"

namespace kernelpro {

// Prints the run as `options` want it; `load`: what was seen of the machine when it was worked on.
void print_run(const Options& options, const RunReport& report,
               const std::optional<MachineLoad>& load = std::nullopt);

// What to do with the bundle that was written, and then; on standard error.
void print_waiting(const Workers& workers, const JudgingSettings& judging, const std::string& then);

// Whom the answers of models are waited for.
void print_waiting_for_models(const LlmSettings& settings, const std::string& then);

// A remark on standard error, unless --quiet.
void print_note(const Options& options, const std::string& text);
// Says where the page is, or why it is not; the exit code.
int page_exit_code(const Options& options, const Status& written);
// What people should know of the store that a command is about to read.
void print_store_notices(const Options& options);

}  // namespace kernelpro
