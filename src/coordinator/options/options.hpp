// What the user asked for, as one plain value.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/app/chat_transcript.hpp"
#include "coordinator/app/code.hpp"
#include "coordinator/app/diagnose.hpp"
#include "coordinator/app/evaluate.hpp"
#include "coordinator/app/export_run.hpp"
#include "coordinator/app/landscapes.hpp"
#include "coordinator/app/machine.hpp"
#include "coordinator/app/memory.hpp"
#include "coordinator/app/open_run.hpp"
#include "coordinator/app/own_task.hpp"
#include "coordinator/app/suite.hpp"
#include "coordinator/app/tasks.hpp"
#include "coordinator/app/tune.hpp"
#include "coordinator/app/verify.hpp"
#include "coordinator/manual/manual.hpp"
#include "coordinator/options/llm_options.hpp"
#include "coordinator/task/create.hpp"

namespace kernelpro {

// Where and for whom to serve.
struct ServeOptions {
  std::string address = "127.0.0.1";
  int port = 8086;
  std::filesystem::path tokens;
  std::vector<std::string> hosts;
  int most_waiting = 20'000;
  int most_of_client = 5'000;
  int kept = 100'000;
  JudgingSettings judging;
  Workers workers;
};

// The requests of the commands, each filled by its own, and how results are printed.
struct Options {
  std::string command;  // "evaluate", "task new": a row of coordinator/cli/commands.cpp
  bool json = false;
  bool quiet = false;  // no progress lines
  EvaluationRequest evaluate;
  VerifyRequest verify;
  DiagnoseRequest diagnose;
  std::vector<std::string> sources;  // diagnose: one at most
  bool program_given = false;        // diagnose: there is a "--"
  bool markdown = false;
  bool raw = false;
  std::filesystem::path store;  // of runs; empty: the current project's
  OptimizeRequest optimize;     // bench: how each problem is searched
  OwnRequest own;               // optimize FILE:FUNCTION
  bool serial = false;
  bool dry_run = false;
  RunChanges changes;  // resume, confirm
  LlmChanges llm;      // optimize, resume, bench
  NodeRequest node;    // all commands about one run, or about a node of it
  ExportRequest exported;
  std::string export_form;             // empty: source
  std::vector<std::string> more_runs;  // report: shown in one table with `node.run`; tools; rm
  std::string format = "text";         // report: text, markdown or json
  std::filesystem::path html;          // report, diagnose: the page to write; empty: none
  std::filesystem::path into;          // transcript, man: what to write; empty: none
  bool jobs = false;                   // mcp: work for a server instead
  CheckRequest check;
  NewTask new_task;
  NewProblem new_problem;  // where its checkout is named
  CeilingsRequest ceilings;
  TuneRequest tune;
  SimulateRequest simulate;
  ImportRequest import;
  std::filesystem::path agents_into;
  SuiteRequest suite;  // without a checkout nothing is measured, what is there is shown
  std::filesystem::path against;
  bool verbose = false;            // bench
  std::vector<std::string> words;  // help, man, config: a command; completion: what; a question
  ServeOptions serve;
  std::string transcript_form;  // empty: calls
  ChatFilters chat;             // transcript --as chat
  CodeIndexRequest code_index;
  std::string code_name;  // code symbol, code read
  int code_limit = 10;    // code search, code symbol
  MemoryRequest memory;
  memory::ForgetWishes forget;
  std::vector<std::filesystem::path> lesson_files;  // memory import
  std::vector<std::string> defaulted;               // options that kernelpro.toml gave
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
  std::optional<Error> error;  // kernelpro.toml cannot be used
};

[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

// All commands with their options.
[[nodiscard]] ManualCommand whole_manual();

}  // namespace kernelpro
