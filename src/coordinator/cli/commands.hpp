// The commands of `kernelpro`. Each prints its result and returns the exit code.
#pragma once

#include <stop_token>
#include <string>

#include "coordinator/options/options.hpp"

namespace kernelpro {

using CommandFunction = int (*)(const Options& options, std::stop_token stop);

// What does `command` ("task new"); nullptr where there is no such command.
[[nodiscard]] CommandFunction find_function(const std::string& command);

// Does what the options say, or reports why they cannot be used. Returns the exit code.
[[nodiscard]] int run_options(const ParsedOptions& parsed, std::stop_token stop);

[[nodiscard]] int evaluate_command(const Options& options, std::stop_token stop);
[[nodiscard]] int diagnose_command(const Options& options, std::stop_token stop);
[[nodiscard]] int verify_command(const Options& options, std::stop_token stop);
[[nodiscard]] int optimize_command(const Options& options, std::stop_token stop);
[[nodiscard]] int resume_command(const Options& options, std::stop_token stop);
[[nodiscard]] int confirm_command(const Options& options, std::stop_token stop);
[[nodiscard]] int remove_command(const Options& options, std::stop_token stop);
[[nodiscard]] int runs_command(const Options& options, std::stop_token stop);
[[nodiscard]] int show_command(const Options& options, std::stop_token stop);
[[nodiscard]] int why_command(const Options& options, std::stop_token stop);
[[nodiscard]] int report_command(const Options& options, std::stop_token stop);
[[nodiscard]] int tools_command(const Options& options, std::stop_token stop);
[[nodiscard]] int export_command(const Options& options, std::stop_token stop);
[[nodiscard]] int mcp_command(const Options& options, std::stop_token stop);
[[nodiscard]] int serve_command(const Options& options, std::stop_token stop);
[[nodiscard]] int prompt_command(const Options& options, std::stop_token stop);
[[nodiscard]] int transcript_command(const Options& options, std::stop_token stop);
[[nodiscard]] int task_new_command(const Options& options, std::stop_token stop);
[[nodiscard]] int task_check_command(const Options& options, std::stop_token stop);
[[nodiscard]] int task_list_command(const Options& options, std::stop_token stop);
[[nodiscard]] int task_show_command(const Options& options, std::stop_token stop);
[[nodiscard]] int ceilings_command(const Options& options, std::stop_token stop);
[[nodiscard]] int doctor_command(const Options& options, std::stop_token stop);
[[nodiscard]] int tune_command(const Options& options, std::stop_token stop);
[[nodiscard]] int simulate_command(const Options& options, std::stop_token stop);
[[nodiscard]] int landscape_import_command(const Options& options, std::stop_token stop);
[[nodiscard]] int landscape_agents_command(const Options& options, std::stop_token stop);
[[nodiscard]] int bench_kernelbench_command(const Options& options, std::stop_token stop);
[[nodiscard]] int code_index_command(const Options& options, std::stop_token stop);
[[nodiscard]] int code_search_command(const Options& options, std::stop_token stop);
[[nodiscard]] int code_symbol_command(const Options& options, std::stop_token stop);
[[nodiscard]] int code_read_command(const Options& options, std::stop_token stop);
[[nodiscard]] int memory_show_command(const Options& options, std::stop_token stop);
[[nodiscard]] int memory_export_command(const Options& options, std::stop_token stop);
[[nodiscard]] int memory_import_command(const Options& options, std::stop_token stop);
[[nodiscard]] int memory_forget_command(const Options& options, std::stop_token stop);
[[nodiscard]] int help_command(const Options& options, std::stop_token stop);
[[nodiscard]] int config_command(const Options& options, std::stop_token stop);
[[nodiscard]] int man_command(const Options& options, std::stop_token stop);
[[nodiscard]] int completion_command(const Options& options, std::stop_token stop);

}  // namespace kernelpro
