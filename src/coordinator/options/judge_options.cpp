// The options of the commands about candidates.
#include <CLI/CLI.hpp>

#include "coordinator/options/number_range.hpp"
#include "coordinator/options/option_groups.hpp"

namespace kernelpro {

namespace {

void add_evaluate(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("evaluate", "Judge candidates: correct, honest, faster?");
  EvaluationRequest& request = options.evaluate;
  command->group(judge_group);
  command->add_option("task", request.task, "A task's name, folder or task.toml")
      ->type_name("TASK")
      ->required();
  command
      ->add_option("sources", request.sources,
                   "C++ files in the candidate ABI, or names of the task's own baseline and "
                   "comparators")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--incumbent", request.incumbent,
                   "Source to compare with (default: the baseline)")
      ->type_name("FILE");
  add_building(*command, request.build);
  add_precision(*command, request.allow_precision);
  CLI::Option* untimed = command->add_flag_function(
      "--no-timing", [&request](std::int64_t) { request.timed = false; }, "Correctness only");
  command
      ->add_flag("--energy", request.energy,
                 "Measure joules a call too, where the device has a counter: about 35 s a shape")
      ->excludes(untimed);
  command
      ->add_option("--certificates", request.certificates,
                   "Write NAME.certificate.json for each candidate into this folder")
      ->type_name("DIR");
  add_place(*command, request.judging, request.workers);
  add_judging(*command, request.judging);
  add_output(*command, options);
  command->footer(
      "Exit code 0: every candidate passed and the last is faster; 3: judged, not so; 4: "
      "waiting for a bundle: the same command again reads its results.\n"
      "Example:\n  kernelpro evaluate gemm my_gemm.cpp --option -O3 --option target --option "
      "openmp");
}

// One of the four things that can be diagnosed, and nothing half.
void check_subject(const Options& options) {
  const DiagnoseRequest& wanted = options.diagnose;
  const int subjects = (wanted.task.empty() ? 0 : 1) + (options.program_given ? 1 : 0) +
                       (wanted.nsys.empty() ? 0 : 1) + (wanted.profile.empty() ? 0 : 1);
  if (subjects != 1) {
    throw CLI::ValidationError(
        "diagnose", "expected one of TASK SOURCE, -- PROGRAM, --nsys REPORT and --profile FILE");
  }
  if (!wanted.task.empty() && options.sources.empty()) {
    throw CLI::RequiredError("source");
  }
  if (options.program_given && wanted.program.empty()) {
    throw CLI::ValidationError("--", "expected a program and its arguments behind it");
  }
}

void add_subject(CLI::App& command, Options& options) {
  DiagnoseRequest& wanted = options.diagnose;
  CLI::Option* task = command.add_option("task", wanted.task, "A task's name, folder or task.toml")
                          ->type_name("TASK");
  command
      .add_option("source", options.sources,
                  "A file in the candidate ABI, a shared object that is built already, or the "
                  "name of the task's own baseline or comparator")
      ->type_name("FILE")
      ->expected(0, 1);
  command.add_option("--nsys", wanted.nsys, "Instead: a report that nsys wrote")->type_name("FILE");
  command
      .add_option("--profile", wanted.profile,
                  "Instead: diagnose again what --keep or --json wrote; needs no GPU")
      ->type_name("FILE");
  command
      .add_option("--shape", wanted.shape,
                  "Which timed shape of the task: m=512,n=512 (default: the first)")
      ->needs(task);
}

void add_diagnose(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "diagnose", "What holds a kernel or a program back, and what to do about it");
  DiagnoseRequest& wanted = options.diagnose;
  command->group(judge_group);
  add_subject(*command, options);
  command->add_flag("--all-tools", wanted.all_tools, "Run every tool, whatever the class");
  command->add_flag("--rules", wanted.rules, "Show what ncu's own rules say as well");
  command->add_flag_function(
      "--no-counters", [&wanted](std::int64_t) { wanted.counters = false; },
      "Do without the GPU's counters, as where they are denied; on processors without "
      "valgrind");
  add_duration(*command, "--timeout", "What the program may take, each time it is run (default 2m)",
               least_seconds, most_seconds,
               [&wanted](double seconds) { wanted.timeout_seconds = seconds; });
  command
      ->add_option("--keep", wanted.keep,
                   "Keep the profilers' raw files, profile.json and diagnosis.json here")
      ->type_name("DIR");
  command->add_flag("--raw", options.raw,
                    "Show all figures with their origin, and why others are missing");
  CLI::Option* markdown = command->add_flag("--md", options.markdown, "Print Markdown");
  add_html(*command, options);
  command
      ->add_option_function<std::string>(
          "--backend", [&wanted](const std::string& name) { wanted.backend = parse_backend(name); },
          "cpu or cuda (default: what the source is for; of a program cuda where there is a GPU)")
      ->check(one_of(backend_names()));
  add_device(*command, wanted.judging);
  add_building(*command, wanted.build);
  add_sandbox(*command, wanted.judging);
  add_includes(*command, wanted.judging);
  add_store(*command, options);
  add_output(*command, options);
  markdown->excludes(command->get_option("--json"));
  command->footer(
      "Behind -- stands any program, with its arguments; it is run several times.\n"
      "Exit code 0: diagnosed; 2: the program or file is of no use; 5: something is missing "
      "here.\n"
      "Example:\n  kernelpro diagnose -- ./app --size 4096\n"
      "  kernelpro diagnose gemm my_gemm.cu --md\n"
      "  kernelpro diagnose gemm my_gemm.cu --html diagnosis.html\n"
      "  kernelpro diagnose --profile kept/profile.json --all-tools");
  command->callback([&options, &wanted] {
    check_subject(options);
    wanted.source = options.sources.empty() ? "" : options.sources.front();
  });
}

void add_verify(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("verify", "Repeat what a certificate claims and say what differs");
  command->group(judge_group)
      ->add_option("certificate", options.verify.certificate, "A certificate written by `evaluate`")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("source", options.verify.source,
                   "What the source is today: judged beside the certificate's")
      ->type_name("SOURCE");
  command
      ->add_option("--fail-below", options.verify.fail_below,
                   "Exit code 3 where less than this share of the certificate's speed is left")
      ->check(between(0.01, 100.0))
      ->type_name("SHARE");
  add_device(*command, options.verify.judging);
  add_judging(*command, options.verify.judging);
  add_output(*command, options);
  command->footer(
      "Builds the embedded source, repeats the recorded checks with their seeds and times it "
      "again.\n"
      "With SOURCE that file is judged instead, timed side by side with the embedded one: a "
      "change\n"
      "that is wrong, or slower than --fail-below allows, ends with exit code 3.\n"
      "Example:\n  kernelpro verify my_gemm.certificate.json\n"
      "  kernelpro verify my_gemm.certificate.json my_gemm.cpp --fail-below 0.95");
}

}  // namespace

void add_judge(CLI::App& app, Options& options) {
  add_evaluate(app, options);
  add_diagnose(app, options);
  add_verify(app, options);
}

}  // namespace kernelpro
