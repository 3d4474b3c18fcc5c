#include "coordinator/cli/commands.hpp"

namespace kernelpro {

int run_command_line(const Options& options, std::stop_token stop) {
  switch (options.command) {
    case CommandKind::evaluate:
      return evaluate(options, stop);
    case CommandKind::diagnose:
      return diagnose(options, stop);
    case CommandKind::verify:
      return verify(options, stop);
    case CommandKind::optimize:
      return optimize(options, stop);
    case CommandKind::resume:
      return resume(options, stop);
    case CommandKind::confirm:
      return confirm(options, stop);
    case CommandKind::runs:
      return list_runs(options);
    case CommandKind::show:
      return show_node(options);
    case CommandKind::why:
      return explain_node(options);
    case CommandKind::report:
      return report_run(options);
    case CommandKind::tools:
      return list_tools(options);
    case CommandKind::export_run:
      return export_run(options);
    case CommandKind::prompt:
      return show_prompt(options);
    case CommandKind::transcript:
      return write_run_transcript(options);
    case CommandKind::task_new:
      return task_new(options);
    case CommandKind::task_check:
      return task_check(options, stop);
    case CommandKind::task_list:
      return task_list(options);
    case CommandKind::ceilings:
      return ceilings(options, stop);
    case CommandKind::doctor:
      return doctor(options, stop);
    case CommandKind::bench_kernelbench:
      return bench_kernelbench(options, stop);
    case CommandKind::help:
      break;
  }
  return exit_usage;
}

}  // namespace kernelpro
