// Options that several commands share. For the files of this room only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/options/options.hpp"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace kernelpro {

// What people do, as the commands are listed.
inline constexpr const char* optimize_group = "Optimize your function";
inline constexpr const char* look_group = "Look at results";
inline constexpr const char* judge_group = "Judge and diagnose";
inline constexpr const char* task_group = "Tasks";
inline constexpr const char* code_group = "Code to learn from";
inline constexpr const char* machine_group = "Machine and settings";
inline constexpr const char* help_group = "Help";

inline constexpr double least_seconds = 0.001;
inline constexpr double most_seconds = 3600;
inline constexpr int most_in_flight = 256;

// "A=m,k" at the first '='; both parts must be there, unless the second may be empty.
[[nodiscard]] std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                                   const std::string& flag,
                                                                   bool may_be_empty = false);
[[nodiscard]] std::vector<std::string> split_commas(const std::string& text);

// One of these words; another is refused with the one that was probably meant.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);

// A repeatable option whose words are NAME=VALUE.
CLI::Option* add_assignments(
    CLI::App& app, const std::string& flag, const std::string& text,
    std::function<void(const std::string& name, const std::string& value)> take);

// A duration, taken in seconds: a plain number, or 60s, 5m, 1h30m.
void add_duration(CLI::App& app, const std::string& flag, const std::string& text, double least,
                  double most, std::function<void(double seconds)> take);

void add_building(CLI::App& command, BuildWishes& wishes);
void add_output(CLI::App& app, Options& options);
void add_sandbox(CLI::App& app, JudgingSettings& judging);
void add_judging(CLI::App& app, JudgingSettings& judging);
void add_includes(CLI::App& app, JudgingSettings& judging);
void add_device(CLI::App& app, JudgingSettings& judging);
void add_backend(CLI::App& app, JudgingSettings& judging);
void add_place(CLI::App& app, JudgingSettings& judging, Workers& workers);
void add_workers(CLI::App& app, Workers& workers);
void add_precision(CLI::App& app, std::vector<std::string>& allow_precision);
void add_batch(CLI::App& app, std::optional<int>& batch);
void add_store(CLI::App& app, Options& options);
void add_budgets(CLI::App& app, RunChanges& changes);
CLI::Option* add_html(CLI::App& app, Options& options);

// What a function of the user's own is, for `optimize`: the options of this group.
inline constexpr const char* own_group = "Of FILE:FUNCTION";
void add_own_function(CLI::App& app, Options& options);
// Those that `task new` has too.
void add_function_flags(CLI::App& app, NewTask& wishes);

// The commands about candidates, runs, tasks, machines, suites, searches, code and the service.
void add_judge(CLI::App& app, Options& options);
void add_runs(CLI::App& app, Options& options);
void add_task(CLI::App& app, Options& options);
void add_machine(CLI::App& app, Options& options);
void add_bench(CLI::App& app, Options& options);
void add_code(CLI::App& app, Options& options);
void add_search(CLI::App& app, Options& options);
void add_serve(CLI::App& app, Options& options);
void add_memory(CLI::App& app, Options& options);

}  // namespace kernelpro
