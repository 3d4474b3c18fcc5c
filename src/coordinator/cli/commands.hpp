// The commands of `kernelpro`. Each prints its result and returns the exit code.
#pragma once

#include <stop_token>

#include "coordinator/cli/options.hpp"

namespace kernelpro {

[[nodiscard]] int run_command_line(const Options& options, std::stop_token stop);

[[nodiscard]] int evaluate(const Options& options, std::stop_token stop);
[[nodiscard]] int diagnose(const Options& options, std::stop_token stop);
[[nodiscard]] int verify(const Options& options, std::stop_token stop);
[[nodiscard]] int optimize(const Options& options, std::stop_token stop);
[[nodiscard]] int resume(const Options& options, std::stop_token stop);
[[nodiscard]] int confirm(const Options& options, std::stop_token stop);
[[nodiscard]] int list_runs(const Options& options);
[[nodiscard]] int show_node(const Options& options);
[[nodiscard]] int explain_node(const Options& options);
[[nodiscard]] int report_run(const Options& options);
[[nodiscard]] int list_tools(const Options& options);
[[nodiscard]] int export_run(const Options& options);
[[nodiscard]] int show_prompt(const Options& options);
[[nodiscard]] int write_run_transcript(const Options& options);
[[nodiscard]] int task_new(const Options& options);
[[nodiscard]] int task_check(const Options& options, std::stop_token stop);
[[nodiscard]] int task_list(const Options& options);
[[nodiscard]] int ceilings(const Options& options, std::stop_token stop);
[[nodiscard]] int doctor(const Options& options, std::stop_token stop);
[[nodiscard]] int bench_kernelbench(const Options& options, std::stop_token stop);

}  // namespace kernelpro
