// The commands about runs: made, gone on with, confirmed, looked at, exported.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "coordinator/options/number_range.hpp"
#include "coordinator/options/option_groups.hpp"
#include "coordinator/report/export.hpp"

namespace kernelpro {

namespace {

// Empty where it is the number of a node.
std::string node_complaint(const std::string& text) {
  NodeId number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error != std::errc() || end != text.data() + text.size() || number < 0
             ? "expected the number of a node, found \"" + text + "\""
             : "";
}

NodeId node_number(const std::string& text) {
  if (const std::string complaint = node_complaint(text); !complaint.empty()) {
    throw CLI::ValidationError("node", complaint);
  }
  return std::stoll(text);
}

void add_search(CLI::App& app, RunSettings& settings) {
  app.add_option("--search", settings.search,
                 "mcts (default), horizon, greedy, beam, elites or random");
  app.add_option("--preset", settings.preset, "Of mcts: default, steady or paper");
  app.add_option("--seed", settings.seed, "Of the search (default 1); the judge's are secret");
  app.add_option("--in-flight", settings.in_flight,
                 "Candidates under way at a time, whatever the number of workers (default 2)")
      ->check(between(1, most_in_flight));
  app.add_option("--tier", settings.tiers,
                 "Only moves of this tier (build, pragmas, nest, tune), repeatable; with --llm "
                 "the default is tune")
      ->allow_extra_args(false);
  app.add_option("--move", settings.moves, "Only this move (and those of --tier), repeatable")
      ->allow_extra_args(false);
  app.add_flag_function(
      "--no-fast-math", [&settings](std::int64_t) { settings.fast_math = false; },
      "No move may let the compiler reorder arithmetic");
  app.add_flag_function(
      "--no-sweep", [&settings](std::int64_t) { settings.sweep = false; },
      "Step one tunable a node, instead of a sweep by the tuner");
  app.add_option("--stop-at", settings.stop_at,
                 "End once the best has this share of the bound, as 0.9")
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--accept-suspect", settings.accept_suspect,
               "A result whose clock or bound is in doubt may be the best");
  add_precision(app, settings.allow_precision);
}

void add_lessons(CLI::App& app, RunSettings& settings) {
  settings.memory = "on";
  app.add_option("--memory", settings.memory,
                 "Lessons of other runs: on (default: of the store), off, a memory of your own, or "
                 "run:RUN for what that run was told")
      ->type_name("FILE");
}

void add_objective(CLI::App& app, RunSettings& settings) {
  app.add_option_function<std::string>(
         "--objective",
         [&settings](const std::string& value) {
           settings.objective = parse_objective(value).value_or(Objective::time);
         },
         "What decides among the finalists: time (default), energy (joules a call), "
         "time-then-energy (joules among the equally fast) or edp (joules times seconds)")
      ->check(one_of({"time", "energy", "time-then-energy", "edp"}));
}

void add_feedback(CLI::App& app, RunSettings& settings) {
  app.add_option_function<std::string>(
         "--feedback",
         [&settings](const std::string& value) {
           settings.feedback = parse_feedback(value).value_or(Feedback::tools);
         },
         "What a GPU's profile tells the search: tools (default: class and findings), raw (figures "
         "alone) or none")
      ->check(one_of({"none", "raw", "tools"}));
}

// What describes a function of the user's own says nothing about a task.
void check_own_options(const CLI::App& command, const Options& options) {
  for (const CLI::Option* option : command.get_options()) {
    const bool said =
        option->count() > 0 &&
        std::ranges::find(options.defaulted, option->get_name()) == options.defaulted.end();
    if (option->get_group() == own_group && said && !parse_own_target(options.optimize.task)) {
      throw CLI::ValidationError(option->get_name(), "it is about FILE:FUNCTION, and \"" +
                                                         options.optimize.task + "\" is a task");
    }
  }
}

void add_optimize(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "optimize", "Make a function of yours, or a task's baseline, faster and prove it");
  command->group(optimize_group);
  OptimizeRequest& request = options.optimize;
  RunSettings& settings = request.settings;
  command->add_option("task", request.task, "FILE:FUNCTION, or a task's name, folder or task.toml")
      ->type_name("TASK")
      ->required();
  add_own_function(*command, options);
  add_budgets(*command, options.changes);
  add_search(*command, settings);
  add_feedback(*command, settings);
  add_objective(*command, settings);
  add_lessons(*command, settings);
  command
      ->add_option("--from", request.starts,
                   "A candidate of yours to search from beside the baseline, repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--export", options.exported.directory,
                   "Write the best candidate into this folder at the end")
      ->type_name("DIR");
  add_batch(*command, request.batch);
  add_llm_options(*command, options.llm);
  command->add_flag(
      "--dry-run", options.dry_run,
      "Say what would be done, and begin no run (the task of a function is kept); with "
      "--llm: what the first call of a model would be and may cost");
  add_place(*command, settings.judging, settings.workers);
  add_store(*command, options);
  add_judging(*command, settings.judging);
  add_output(*command, options);
  command->footer(
      "FILE:FUNCTION makes a task of a function of yours and ends with a patch of that file.\n"
      "Every candidate is judged as by `evaluate`, and everything is kept: Ctrl-C or a crash loses "
      "at most the evaluation under way, and `kernelpro resume` goes on.\n"
      "Exit code 0: something faster was found and confirmed; 3: not so; 4: waiting for a bundle "
      "or for the answers of a batch.\n"
      "Example:\n  kernelpro optimize blur.cpp:blur --evaluations 40\n"
      "  kernelpro optimize src/fir.cpp:dsp::fir -I include --size n=4096 --flags \"-O3\"\n"
      "  kernelpro optimize gemm --evaluations 60 --export fast_gemm\n"
      "  kernelpro optimize gemm --llm anthropic:MODEL --llm-tokens 2000000\n"
      "  kernelpro optimize gemm --llm openai:MODEL --base-url http://localhost:8000/v1\n"
      "  kernelpro optimize gemm --llm batch:questions");
  command->callback([command, &options] { check_own_options(*command, options); });
}

void add_run_and_node(CLI::App& command, Options& options, bool with_node) {
  command.add_option("run", options.node.run, "A run's name, as `kernelpro runs` lists it")
      ->type_name("RUN")
      ->required();
  if (with_node) {
    command.add_option("node", options.node.node, "A node's number (default: the best)")
        ->check(node_complaint, "");
  }
}

void add_resume(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("resume", "Go on with a run, with the same or more budget");
  command->group(optimize_group);
  add_run_and_node(*command, options, false);
  add_budgets(*command, options.changes);
  add_llm_options(*command, options.llm);
  add_store(*command, options);
  add_output(*command, options);
  command->footer(
      "A run that has ended has its finalists measured again (`kernelpro confirm` does only "
      "that).\n"
      "Example:\n  kernelpro resume gemm-1 --evaluations 200");
}

void add_confirm(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "confirm", "Measure a run's finalists again, side by side against the baseline");
  command->group(optimize_group);
  add_run_and_node(*command, options, false);
  command->add_flag("--accept-suspect", options.changes.accept_suspect,
                    "A result whose clock or bound is in doubt may be the best from now on");
  add_store(*command, options);
  add_output(*command, options);
  command->footer(
      "Nothing new is tried: the fastest candidates, and suspects among them, are judged again. "
      "The best of that is the best of the run. Worth it when the machine has become quiet.\n"
      "Exit code 0: a confirmed best beats the baseline; 3: not so; 4: waiting for a bundle.\n"
      "Example:\n  kernelpro confirm gemm-1");
}

// A command that looks at runs.
CLI::App* add_look(CLI::App& app, const std::string& name, const std::string& text,
                   const std::string& example) {
  CLI::App* command = app.add_subcommand(name, text)->group(look_group);
  command->footer("Example:\n  " + example);
  return command;
}

void add_remove(CLI::App& runs, Options& options) {
  CLI::App* remove = add_look(runs, "rm", "Remove runs from this store",
                              "kernelpro runs rm gemm-1 gemm-2 --dry-run");
  remove->add_option("runs", options.more_runs, "Their names")->type_name("RUN")->required();
  remove->add_flag("--dry-run", options.dry_run, "Say what would be removed, and keep it");
  add_store(*remove, options);
  add_output(*remove, options);
}

void add_looking(CLI::App& app, Options& options) {
  CLI::App* runs = add_look(app, "runs", "The runs of this store", "kernelpro runs");
  runs->require_subcommand(0, 0);  // it does something alone
  add_remove(*runs, options);
  CLI::App* show = add_look(
      app, "show", "One node: source, difference to its parent and the baseline, verdict, timing",
      "kernelpro show gemm-1 17");
  add_run_and_node(*show, options, true);
  CLI::App* why = add_look(app, "why", "Why a node was tried, and why its branch was closed",
                           "kernelpro why gemm-1 17");
  add_run_and_node(*why, options, true);
  CLI::App* report = add_look(app, "report", "A run as a whole",
                              "kernelpro report gemm-1 --format markdown\n"
                              "  kernelpro report gemm-1 --html gemm.html");
  add_run_and_node(*report, options, false);
  CLI::Option* more =
      report->add_option("more", options.more_runs, "Further runs: then one table of them all")
          ->type_name("RUN");
  report->add_option("--format", options.format, "text (default), markdown or json")
      ->check(one_of({"text", "markdown", "json"}));
  add_html(*report, options)->excludes(more);
  CLI::App* tools =
      add_look(app, "tools",
               "What the findings of the micro-profiling tools led to, over all runs of this store",
               "kernelpro tools");
  tools->add_option("runs", options.more_runs, "These runs only")->type_name("RUN");
  CLI::App* prompt = add_look(
      app, "prompt", "What a model would be asked for a child of a node, and what that may cost",
      "kernelpro prompt gemm-1 17");
  add_run_and_node(*prompt, options, true);
  CLI::App* transcript = add_look(
      app, "transcript", "Every call of a model in a run, one JSON line each, for replay:FILE",
      "kernelpro transcript gemm-1 --into gemm.jsonl\n"
      "  kernelpro optimize gemm --llm replay:gemm.jsonl");
  add_run_and_node(*transcript, options, false);
  transcript->add_option("--into", options.into, "The file to write (default: standard output)")
      ->type_name("FILE");
  transcript
      ->add_option("--as", options.transcript_form,
                   "calls (default), or chat: conversations with what came of them, as data "
                   "to train on")
      ->check(one_of({"calls", "chat"}));
  transcript->add_flag("--verified", options.chat.verified,
                       "chat: only those whose candidate passed, in a sandbox and beyond doubt");
  transcript->add_flag("--unique", options.chat.unique,
                       "chat: of equal candidates and equal conversations the first alone");
  for (CLI::App* command : {runs, show, why, report, tools, prompt, transcript}) {
    add_store(*command, options);
    add_output(*command, options);
  }
}

void add_export(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "export", "Take a candidate home: source, header, build line, benchmark, certificate");
  command->group(optimize_group);
  add_run_and_node(*command, options, false);
  auto places = std::make_shared<std::vector<std::string>>();
  command
      ->add_option("node_and_directory", *places,
                   "[NODE] DIRECTORY; without NODE the best, and never the baseline (NODE 0)")
      ->required()
      ->expected(1, 2)
      ->type_name("[NODE] DIRECTORY");
  command
      ->add_option(
          "--as", options.export_form,
          "source (default), with a benchmark; patch, for the file your function came from; "
          "header, cmake or library: a function for C and C++ as one file, as a target "
          "of CMake, as .so and .a; of a KernelBench problem: kernelbench, one file for "
          "the benchmark's evaluator, or torch, a package with an operator and a drop-in "
          "module")
      ->check(one_of(export_form_names()));
  command->add_flag("--overwrite", options.exported.overwrite, "Replace files that are there");
  command->add_flag("--accept-suspect", options.exported.accept_suspect,
                    "Export a result whose clock or bound is in doubt");
  add_store(*command, options);
  add_output(*command, options);
  command->footer(
      "Example:\n  kernelpro export gemm-1 fast_gemm\n"
      "  kernelpro export gemm-1 lib/fast_gemm --as cmake\n"
      "  kernelpro export kernelbench_1_12-1 for_the_benchmark --as kernelbench");
  command->callback([&options, places] {
    options.exported.directory = places->back();
    if (places->size() == 2) {
      options.node.node = node_number(places->front());
    }
  });
}

void add_mcp(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "mcp", "Serve coding agents: the Model Context Protocol on standard input and output");
  command->group(optimize_group);
  command->add_flag(
      "--jobs", options.jobs,
      "Instead: do the work of jobs whose folders come in lines, as the server starts "
      "it by itself");
  add_store(*command, options);
  command->footer(
      "Agents start it themselves; docs/mcp.md says what to tell each.\n"
      "Example:\n  kernelpro mcp\n  claude mcp add kernelpro -- kernelpro mcp");
}

}  // namespace

void add_runs(CLI::App& app, Options& options) {
  add_optimize(app, options);
  add_resume(app, options);
  add_confirm(app, options);
  add_export(app, options);
  add_looking(app, options);
  add_mcp(app, options);
}

}  // namespace kernelpro
