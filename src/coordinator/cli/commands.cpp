#include "coordinator/cli/commands.hpp"

#include <map>

#include "coordinator/cli/output.hpp"

namespace kernelpro {

CommandFunction find_function(const std::string& command) {
  static const std::map<std::string, CommandFunction> functions = {
      {"evaluate", evaluate_command},
      {"diagnose", diagnose_command},
      {"verify", verify_command},
      {"optimize", optimize_command},
      {"resume", resume_command},
      {"confirm", confirm_command},
      {"runs rm", remove_command},
      {"runs", runs_command},
      {"show", show_command},
      {"why", why_command},
      {"report", report_command},
      {"tools", tools_command},
      {"export", export_command},
      {"mcp", mcp_command},
      {"serve", serve_command},
      {"prompt", prompt_command},
      {"transcript", transcript_command},
      {"task new", task_new_command},
      {"task check", task_check_command},
      {"task list", task_list_command},
      {"task show", task_show_command},
      {"ceilings", ceilings_command},
      {"doctor", doctor_command},
      {"bench kernelbench", bench_kernelbench_command},
      {"code index", code_index_command},
      {"code search", code_search_command},
      {"code symbol", code_symbol_command},
      {"code read", code_read_command},
      {"memory show", memory_show_command},
      {"memory export", memory_export_command},
      {"memory import", memory_import_command},
      {"memory forget", memory_forget_command},
      {"tune", tune_command},
      {"simulate", simulate_command},
      {"landscape import", landscape_import_command},
      {"landscape agents", landscape_agents_command},
      {"help", help_command},
      {"config", config_command},
      {"man", man_command},
      {"completion", completion_command},
  };
  const auto found = functions.find(command);
  return found == functions.end() ? nullptr : found->second;
}

int run_options(const ParsedOptions& parsed, std::stop_token stop) {
  if (parsed.error) {
    return report_error(parsed.options, *parsed.error);
  }
  const CommandFunction function = find_function(parsed.options.command);
  return function != nullptr
             ? function(parsed.options, stop)
             : report_error(parsed.options,
                            make_error(ErrorKind::internal,
                                       "nothing does `" + parsed.options.command + "`"));
}

}  // namespace kernelpro
