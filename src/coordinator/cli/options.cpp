#include "coordinator/cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <sstream>

#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/option_groups.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

namespace {

// What went wrong, and where to read on.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command = app->get_name();
  for (const auto* sub = app; !sub->get_subcommands().empty();) {
    sub = sub->get_subcommands().front();
    command += " " + sub->get_name();
  }
  return std::string("kernelpro: ") + error.what() + "\n`" + command + " --help` says more.\n";
}

void add_building(CLI::App& command, BuildWishes& wishes) {
  command.add_option("--compiler", wishes.compiler, "g++ or clang++-19 (default: g++)");
  command
      .add_option(
          "--option", wishes.options,
          "A build option, repeatable: -O3, -ffast-math, or the words target and openmp for "
          "the probed flags. Default: what `// kp:options` in the source says, else -O2")
      ->allow_extra_args(false);
}

void add_evaluate(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("evaluate", "Judge candidates: correct, honest, faster?");
  EvaluationRequest& request = options.evaluate;
  command->add_option("task", request.task, "A task's name, folder or task.toml")->required();
  command
      ->add_option("sources", request.sources,
                   "C++ files in the candidate ABI, or names of the task's own baseline and "
                   "comparators")
      ->required();
  command->add_option("--incumbent", request.incumbent,
                      "Source to compare with (default: the baseline)");
  add_building(*command, request.build);
  add_precision(*command, request.allow_precision);
  CLI::Option* untimed = command->add_flag_function(
      "--no-timing", [&request](std::int64_t) { request.timed = false; }, "Correctness only");
  command
      ->add_flag("--energy", request.energy,
                 "Measure joules a call too, where the device has a counter: about 35 s a shape")
      ->excludes(untimed);
  command->add_option("--certificates", request.certificates,
                      "Write NAME.certificate.json for each candidate into this folder");
  add_place(*command, request.judging, request.workers);
  add_judging(*command, request.judging);
  add_output(*command, options);
  command->footer(
      "Exit code 0: every candidate passed and the last is faster; 3: judged, not so; 4: waiting\n"
      "for a bundle: the same command again reads its results.\n"
      "Example:\n  kernelpro evaluate gemm my_gemm.cpp --option -O3 --option target --option "
      "openmp");
  command->callback([&options] { options.command = evaluate_command; });
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
  CLI::Option* task = command.add_option("task", wanted.task, "A task's name, folder or task.toml");
  command
      .add_option("source", options.sources,
                  "A CUDA file in the candidate ABI, a shared object that is built already, or the "
                  "name of the task's own baseline or comparator")
      ->expected(0, 1);
  command.add_option("--nsys", wanted.nsys, "Instead: a report that nsys wrote")
      ->type_name("REPORT");
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
      "diagnose", "What holds a kernel or a program back on a GPU, and what to do about it");
  DiagnoseRequest& wanted = options.diagnose;
  add_subject(*command, options);
  command->add_flag("--all-tools", wanted.all_tools, "Run every tool, whatever the class");
  command->add_flag("--rules", wanted.rules, "Show what ncu's own rules say as well");
  command->add_flag_function(
      "--no-counters", [&wanted](std::int64_t) { wanted.counters = false; },
      "Do without the GPU's counters, as where they are denied");
  command
      ->add_option("--timeout", wanted.timeout_seconds,
                   "Seconds the program may take, each time it is run (default 120)")
      ->check(CLI::Range(least_seconds, most_seconds));
  command->add_option("--keep", wanted.keep,
                      "Keep the profilers' raw files, profile.json and diagnosis.json here");
  command->add_flag("--raw", options.raw,
                    "Show all figures with their origin, and why others are missing");
  CLI::Option* markdown = command->add_flag("--md", options.markdown, "Print Markdown");
  add_html(*command, options);
  command
      ->add_option_function<std::string>(
          "--backend", [](const std::string& /*name*/) {}, "cuda, and no other yet")
      ->check(CLI::IsMember({"cuda"}));
  add_device(*command, wanted.judging);
  add_building(*command, wanted.build);
  add_sandbox(*command, wanted.judging);
  add_output(*command, options);
  markdown->excludes(command->get_option("--json"));
  command->footer(
      "Behind -- stands any program that uses CUDA, with its arguments; it is run several times.\n"
      "Exit code 0: diagnosed; 2: the program or file is of no use; 5: no GPU, or something else\n"
      "is missing here.\n"
      "Example:\n  kernelpro diagnose -- ./app --size 4096\n"
      "  kernelpro diagnose gemm my_gemm.cu --md\n"
      "  kernelpro diagnose gemm my_gemm.cu --html diagnosis.html\n"
      "  kernelpro diagnose --profile kept/profile.json --all-tools");
  command->callback([&options, &wanted] {
    check_subject(options);
    wanted.source = options.sources.empty() ? "" : options.sources.front();
    options.command = diagnose_command;
  });
}

// `kernelpro diagnose … -- PROGRAM ARGUMENTS`: takes what stands behind "--", which is not ours to
// parse, off the arguments. Returns how many are left.
int take_program(int argc, const char* const* argv, Options& options) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto command = std::find_if(words.begin(), words.end(),
                                    [](const std::string& word) { return !word.starts_with("-"); });
  if (command == words.end() || *command != "diagnose") {
    return argc;
  }
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark == words.end()) {
    return argc;
  }
  options.program_given = true;
  options.diagnose.program.assign(mark + 1, words.end());
  return static_cast<int>(mark - words.begin()) + 1;
}

void add_verify(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("verify", "Repeat what a certificate claims and say what differs");
  command
      ->add_option("certificate", options.verify.certificate, "A certificate written by `evaluate`")
      ->required();
  add_device(*command, options.verify.judging);
  add_judging(*command, options.verify.judging);
  add_output(*command, options);
  command->footer(
      "Builds the embedded source, repeats the recorded checks with their seeds and times it "
      "again.\n"
      "Example:\n  kernelpro verify my_gemm.certificate.json");
  command->callback([&options] { options.command = verify_command; });
}

// What several commands share, put into the requests.
void complete(Options& options) {
  options.node.store = store_directory(options.store);
  options.exported.what = options.node;
  options.exported.form = parse_export_form(options.export_form);
  OptimizeRequest& optimize = options.optimize;
  RunChanges& changes = options.changes;
  optimize.store = options.node.store;
  optimize.settings.evaluations = changes.evaluations.value_or(optimize.settings.evaluations);
  optimize.settings.seconds = changes.seconds.value_or(0);
  if (!options.llm.empty()) {
    changes.llm = [all = options.llm](LlmSettings& settings) {
      for (const auto& change : all) {
        change(settings);
      }
    };
    changes.llm(optimize.settings.llm.emplace());
  }
  options.suite.search = optimize;
  options.suite.search.settings.accept_suspect = changes.accept_suspect;
  options.suite.changes = changes;
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  ParsedOptions parsed;
  Options& options = parsed.options;
  CLI::App app("KernelPro makes compute kernels faster and proves it.", "kernelpro");
  app.set_version_flag("--version", "kernelpro " KERNELPRO_VERSION);
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.failure_message(usage_error);
  add_output(app, options);
  app.footer(
      "Example:\n  kernelpro evaluate axpy my_axpy.cpp\n\n`kernelpro COMMAND --help` says more.");
  add_evaluate(app, options);
  add_diagnose(app, options);
  add_verify(app, options);
  add_runs(app, options);
  add_task(app, options);
  add_machine(app, options);
  add_bench(app, options);
  try {
    app.parse(take_program(argc, argv, options), argv);
    if (options.command == nullptr) {
      std::cerr << app.help();
      parsed.finished = true;
      parsed.exit_code = exit_usage;
    }
    complete(options);
  } catch (const CLI::ParseError& error) {
    parsed.finished = true;
    parsed.exit_code = app.exit(error, std::cout, std::cerr) == 0 ? exit_done : exit_usage;
  }
  return parsed;
}

}  // namespace kernelpro
