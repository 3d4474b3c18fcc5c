// Options that several commands share. For the files of this room only.
#pragma once

#include <cstdint>

#include "coordinator/cli/options.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kernelpro {

inline constexpr double least_seconds = 0.001;
inline constexpr double most_seconds = 3600;
inline constexpr int most_in_flight = 256;

void add_output(CLI::App& app, Options& options);
void add_sandbox(CLI::App& app, JudgingSettings& judging);
void add_judging(CLI::App& app, JudgingSettings& judging);
void add_device(CLI::App& app, JudgingSettings& judging);
void add_backend(CLI::App& app, JudgingSettings& judging);
void add_place(CLI::App& app, JudgingSettings& judging, Workers& workers);
void add_precision(CLI::App& app, std::vector<std::string>& allow_precision);
void add_batch(CLI::App& app, std::optional<int>& batch);
void add_store(CLI::App& app, Options& options);
void add_budgets(CLI::App& app, RunChanges& changes);
CLI::Option* add_html(CLI::App& app, Options& options);

// What a function of the user's own is, for `optimize`.
void add_own_function(CLI::App& app, Options& options);

// The commands about runs, tasks, machines and suites.
void add_runs(CLI::App& app, Options& options);
void add_task(CLI::App& app, Options& options);
void add_machine(CLI::App& app, Options& options);
void add_bench(CLI::App& app, Options& options);

}  // namespace kernelpro
