// What the user asked for, as one plain value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/model/run.hpp"
#include "coordinator/cli/llm_options.hpp"
#include "coordinator/task/create.hpp"
#include "coordinator/task/torch_problem.hpp"

namespace kernelpro {

enum class CommandKind {
  evaluate,
  diagnose,
  verify,
  optimize,
  resume,
  confirm,
  runs,
  show,
  why,
  report,
  tools,
  export_run,
  prompt,
  transcript,
  task_new,
  task_check,
  task_list,
  ceilings,
  doctor,
  bench_kernelbench,
  help
};

// bench kernelbench
struct SuiteOptions {
  std::filesystem::path checkout;  // empty: nothing is measured, what is there is shown
  std::string levels = "1,2,3";
  std::string problems;  // "1,19-23"; empty: all
  std::filesystem::path candidates;
  bool compile = false;  // torch.compile is timed as well
  std::filesystem::path into = "kernelbench.jsonl";
  std::filesystem::path against;
  double limit_seconds = 900;  // that PyTorch gets for one problem
  bool retry = false;
  bool verbose = false;
};

// diagnose
struct DiagnosisOptions {
  bool program_given = false;  // there is a "--"
  std::vector<std::string> program;
  std::filesystem::path nsys;
  std::filesystem::path profile;
  std::string shape;  // "m=512,n=512"; empty: the first timed one
  bool markdown = false;
  bool raw = false;
  bool all_tools = false;
  bool rules = false;
  bool counters = true;
  double timeout_seconds = 0;
  std::filesystem::path keep;
};

struct Options {
  CommandKind command = CommandKind::help;
  bool json = false;
  bool quiet = false;  // no progress lines
  std::string task;    // evaluate, task check
  std::vector<std::string> sources;
  std::string incumbent;  // a source file
  std::string compiler;
  std::vector<std::string> build_options;
  std::vector<std::string> allow_precision;
  bool sandbox = true;
  bool timed = true;
  bool energy = false;  // evaluate
  int threads = 0;
  double timeout_seconds = 0;
  double timing_seconds = 0;
  bool trace = false;
  bool warm = false;
  std::filesystem::path certificate;            // verify
  std::filesystem::path certificate_directory;  // evaluate: where certificates are written
  bool refresh = false;                         // ceilings
  NewTask new_task;
  NewProblem new_problem;           // where its checkout is named
  std::filesystem::path store;      // of runs; empty: the current project's
  RunSettings run_settings;         // optimize; resume: the budgets; evaluate: where it is judged
  std::optional<int> batch;         // optimize: candidates of one bundle or batch
  std::vector<std::string> starts;  // optimize: source files to search from
  bool more_evaluations = false;    // resume: a budget was given
  bool more_seconds = false;
  LlmChanges llm;                          // optimize, resume
  bool dry_run = false;                    // optimize
  std::filesystem::path into;              // transcript: the file to write; empty: standard output
  std::string run;                         // resume, show, why, report, export
  std::vector<std::string> more_runs;      // report: shown in one table with `run`
  std::optional<NodeId> node;              // show, why, export; none: the best
  std::filesystem::path export_directory;  // export; optimize: where the best is written, if set
  std::string export_form;                 // export: source, kernelbench or torch; empty: source
  bool overwrite = false;                  // export
  bool accept_suspect = false;             // export, confirm
  std::string format = "text";             // report: text, markdown or json
  SuiteOptions suite;
  DiagnosisOptions diagnosis;
};

// Exit codes of every command.
enum ExitCode : int {
  exit_done = 0,
  exit_usage = 1,
  exit_bad_input = 2,
  exit_not_passed = 3,  // judged, not passed or not faster
  exit_waiting = 4,
  exit_environment = 5,
  exit_interrupted = 130,
};

struct ParsedOptions {
  Options options;
  bool finished = false;  // help, version or a usage error was printed
  int exit_code = exit_done;
};

[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace kernelpro
