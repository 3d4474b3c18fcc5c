// What the commands about runs print in the same way.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/cli/machine_load.hpp"
#include "coordinator/cli/options.hpp"
#include "coordinator/report/run_report.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

// From a move's id to its tier, as the move files of that backend say; empty where there are none.
[[nodiscard]] std::map<std::string, std::string> known_tiers(const std::string& backend);

[[nodiscard]] Result<RunReport> load_report(const Store& store, const std::string& run);

// Prints the run as `options` want it; `load`: what was seen of the machine when it was worked on.
[[nodiscard]] Result<RunReport> print_run(const Options& options, const Store& store,
                                          const Run& run,
                                          const std::optional<MachineLoad>& load = std::nullopt);

// What others do on this machine, looked at and said before anything is measured; nothing where the
// work is done elsewhere or by a GPU.
[[nodiscard]] std::optional<MachineLoad> tell_load(const Options& options,
                                                   const RunSettings& settings);
void print_load(const Options& options, const MachineLoad& load);

// What to do with the bundle that was written, and then; on standard error.
void print_waiting(const RunSettings& settings, const std::string& then);

// Whom the answers of models are waited for.
void print_waiting_for_models(const LlmSettings& settings, const std::string& then);

// A remark on standard error, unless --quiet.
void print_note(const Options& options, const std::string& text);

}  // namespace kernelpro
