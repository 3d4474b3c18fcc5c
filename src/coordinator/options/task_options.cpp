// The options of the commands about tasks, machines and suites.
#include <CLI/CLI.hpp>

#include "coordinator/options/option_groups.hpp"

namespace kernelpro {

namespace {

void add_task_new(CLI::App& task, Options& options) {
  CLI::App* command = task.add_subcommand("new", "Write a task around a function of your own");
  NewTask& wanted = options.new_task;
  NewProblem& problem = options.new_problem;
  CLI::Option* called =
      command->add_option("name", wanted.name, "Name of the task: letters, digits, underscores");
  CLI::Option* from =
      command->add_option("--from", wanted.source, "The C++ or CUDA (.cu) file")->type_name("FILE");
  CLI::Option* entry = command->add_option("--entry", wanted.entry, "The function in it");
  CLI::Option* checkout =
      command
          ->add_option("--kernelbench", problem.checkout,
                       "Instead: a checkout of KernelBench, for a problem of it")
          ->type_name("DIR");
  command->add_option("--level", problem.level, "Of the problem")->needs(checkout);
  command->add_option("--problem", problem.problem, "Its number")->needs(checkout);
  from->needs(called)->needs(entry)->excludes(checkout);
  entry->needs(from);
  add_function_flags(*command, wanted);
  command->add_option("--reference", wanted.reference,
                      "A C++ file with a function of the same name that is right; or `original`: "
                      "what yours computes today is (the default for CUDA)");
  command
      ->add_option("--directory", wanted.directory, "Where the task folder is made (default tasks)")
      ->default_val("tasks")
      ->type_name("DIR");
  add_output(*command, options);
  command->footer(
      "Example:\n  kernelpro task new blur --from blur.cpp --entry blur --shape in=h,w --shape "
      "out=h,w\n  kernelpro task new saxpy --from saxpy.cu --entry launch_saxpy --inout y\n"
      "  kernelpro task new --kernelbench ../KernelBench --level 1 --problem 12");
  command->callback([from, checkout] {
    if (from->empty() && checkout->empty()) {
      throw CLI::RequiredError("--from or --kernelbench");
    }
  });
}

void add_bench_kernelbench(CLI::App& bench, Options& options) {
  CLI::App* command = bench.add_subcommand(
      "kernelbench", "PyTorch's times on KernelBench problems, and candidates judged against them");
  SuiteRequest& suite = options.suite;
  RunSettings& settings = options.optimize.settings;
  CLI::Option* checkout =
      command
          ->add_option("--kernelbench", suite.checkout,
                       "A checkout of KernelBench; without: show what FILE holds")
          ->type_name("DIR");
  command->add_option("--levels", suite.levels, "Of the problems (default 1,2,3)")->needs(checkout);
  command->add_option("--problems", suite.problems, "Their numbers: 1,19-23 (default: all)")
      ->needs(checkout);
  command
      ->add_option("--candidates", suite.candidates,
                   "A folder with LEVEL_PROBLEM.cu (.cpp on the CPU), such as 1_19.cu, to judge")
      ->type_name("DIR")
      ->needs(checkout);
  command->add_flag("--compile", suite.compile, "Time torch.compile as well")->needs(checkout);
  command
      ->add_option("--into", suite.into,
                   "The file of results (default kernelbench.jsonl); what it has is not measured "
                   "again")
      ->type_name("FILE");
  command
      ->add_option("--against", options.against,
                   "Compare FILE with this one instead; nothing is measured")
      ->type_name("FILE")
      ->excludes(checkout);
  add_duration(*command, "--limit", "What PyTorch gets for one problem (default 15m)",
               least_seconds, most_seconds,
               [&suite](double seconds) { suite.limit_seconds = seconds; });
  command->add_flag("--retry", suite.retry, "Try again what failed or was not judged")
      ->needs(checkout);
  command->add_flag("--verbose", options.verbose, "One line a problem as well");
  command->add_flag("--accept-suspect", options.changes.accept_suspect,
                    "Count results whose clock or bound is in doubt");
  add_precision(*command, settings.allow_precision);
  add_llm_options(*command, options.llm);
  add_budgets(*command, options.changes);
  add_store(*command, options);
  add_batch(*command, options.optimize.batch);
  add_place(*command, settings.judging, settings.workers);
  add_judging(*command, settings.judging);
  add_output(*command, options);
  command->footer(
      "With --llm models write the candidates first, one run a problem; all may wait in one "
      "batch. A run that was ended goes on where it was.\nExample:\n  kernelpro bench kernelbench "
      "--kernelbench ../KernelBench --levels 1 --problems 19-23\n  kernelpro bench kernelbench "
      "--into mine.jsonl --against theirs.jsonl");
}

}  // namespace

void add_task(CLI::App& app, Options& options) {
  CLI::App* task =
      app.add_subcommand("task", "List, show, check and make tasks")->group(task_group);
  task->require_subcommand(0, 1);
  task->footer("Example:\n  kernelpro task list");
  CLI::App* list = task->add_subcommand("list", "The tasks that are found, and where");
  add_output(*list, options);
  list->footer("Example:\n  kernelpro task list");
  CLI::App* show =
      task->add_subcommand("show", "What a task computes, from what, and what is right");
  show->add_option("task", options.check.task, "A task's name, folder or task.toml")
      ->type_name("TASK")
      ->required();
  add_output(*show, options);
  show->footer("Example:\n  kernelpro task show gemm");
  CLI::App* check = task->add_subcommand("check", "Is a task fit to judge by?");
  check->add_option("task", options.check.task, "A task's name, folder or task.toml")
      ->type_name("TASK")
      ->required();
  add_backend(*check, options.check.judging);
  add_judging(*check, options.check.judging);
  add_output(*check, options);
  check->footer(
      "Tries trivial outputs, redraws every input, counts the reference's operations, and judges "
      "honest and broken variants of the baseline.\nExample:\n  kernelpro task check gemm");
  add_task_new(*task, options);
}

void add_machine(CLI::App& app, Options& options) {
  CLI::App* ceilings = app.add_subcommand("ceilings", "What this machine can do at most, measured");
  ceilings->group(machine_group);
  ceilings->add_flag("--refresh", options.ceilings.refresh, "Measure again even when cached");
  add_backend(*ceilings, options.ceilings.judging);
  add_output(*ceilings, options);
  ceilings->footer("Example:\n  kernelpro ceilings --backend cuda");
  CLI::App* doctor =
      app.add_subcommand("doctor", "What is there, what is missing and how to get it");
  doctor->group(machine_group);
  add_output(*doctor, options);
  doctor->footer("Example:\n  kernelpro doctor");
}

void add_bench(CLI::App& app, Options& options) {
  CLI::App* bench = app.add_subcommand("bench", "Measure a whole suite of problems");
  bench->group(judge_group);
  bench->require_subcommand(0, 1);
  bench->footer("Example:\n  kernelpro bench kernelbench --kernelbench ../KernelBench");
  add_bench_kernelbench(*bench, options);
}

}  // namespace kernelpro
