#include "coordinator/cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>
#include <sstream>

#include "coordinator/cli/option_groups.hpp"
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

// What went wrong, and where to read on.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command = app->get_name();
  for (const auto* sub = app; !sub->get_subcommands().empty();) {
    sub = sub->get_subcommands().front();
    command += " " + sub->get_name();
  }
  return std::string("kernelpro: ") + error.what() + "\n`" + command + " --help` says more.\n";
}

void add_building(CLI::App& command, Options& options) {
  command.add_option("--compiler", options.compiler, "g++ or clang++-19 (default: g++)");
  command
      .add_option(
          "--option", options.build_options,
          "A build option, repeatable: -O3, -ffast-math, or the words target and openmp for "
          "the probed flags. Default: what `// kp:options` in the source says, else -O2")
      ->allow_extra_args(false);
}

void add_evaluate(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("evaluate", "Judge candidates: correct, honest, faster?");
  command->add_option("task", options.task, "A task's name, folder or task.toml")->required();
  command
      ->add_option("sources", options.sources,
                   "C++ files in the candidate ABI, or names of the task's own baseline and "
                   "comparators")
      ->required();
  command->add_option("--incumbent", options.incumbent,
                      "Source to compare with (default: the baseline)");
  add_building(*command, options);
  command
      ->add_option("--allow-precision", options.allow_precision,
                   "Accept this lower precision (tf32, f16, bf16), repeatable")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"tf32", "f16", "bf16"}));
  CLI::Option* untimed = command->add_flag_function(
      "--no-timing", [&options](std::int64_t) { options.timed = false; }, "Correctness only");
  command
      ->add_flag("--energy", options.energy,
                 "Measure joules a call too, where the device has a counter: about 35 s a shape")
      ->excludes(untimed);
  command->add_option("--certificates", options.certificate_directory,
                      "Write NAME.certificate.json for each candidate into this folder");
  add_place(*command, options);
  add_judging(*command, options);
  add_output(*command, options);
  command->footer(
      "Exit code 0: every candidate passed and the last is faster; 3: judged, not so; 4: waiting\n"
      "for a bundle: the same command again reads its results.\n"
      "Example:\n  kernelpro evaluate gemm my_gemm.cpp --option -O3 --option target --option "
      "openmp");
  command->callback([&options] { options.command = CommandKind::evaluate; });
}

// One of the four things that can be diagnosed, and nothing half.
void check_subject(const Options& options) {
  const DiagnosisOptions& wanted = options.diagnosis;
  const int subjects = (options.task.empty() ? 0 : 1) + (wanted.program_given ? 1 : 0) +
                       (wanted.nsys.empty() ? 0 : 1) + (wanted.profile.empty() ? 0 : 1);
  if (subjects != 1) {
    throw CLI::ValidationError(
        "diagnose", "expected one of TASK SOURCE, -- PROGRAM, --nsys REPORT and --profile FILE");
  }
  if (!options.task.empty() && options.sources.empty()) {
    throw CLI::RequiredError("source");
  }
  if (wanted.program_given && wanted.program.empty()) {
    throw CLI::ValidationError("--", "expected a program and its arguments behind it");
  }
}

void add_subject(CLI::App& command, Options& options) {
  DiagnosisOptions& wanted = options.diagnosis;
  CLI::Option* task =
      command.add_option("task", options.task, "A task's name, folder or task.toml");
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
  DiagnosisOptions& wanted = options.diagnosis;
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
  command->add_flag("--raw", wanted.raw,
                    "Show all figures with their origin, and why others are missing");
  CLI::Option* markdown = command->add_flag("--md", wanted.markdown, "Print Markdown");
  command->add_option("--backend", options.run_settings.backend, "cuda, and no other yet")
      ->check(CLI::IsMember({"cuda"}));
  add_device(*command, options);
  add_building(*command, options);
  add_sandbox(*command, options);
  add_output(*command, options);
  markdown->excludes(command->get_option("--json"));
  command->footer(
      "Behind -- stands any program that uses CUDA, with its arguments; it is run several times.\n"
      "Exit code 0: diagnosed; 2: the program or file is of no use; 5: no GPU, or something else\n"
      "is missing here.\n"
      "Example:\n  kernelpro diagnose -- ./app --size 4096\n"
      "  kernelpro diagnose gemm my_gemm.cu --md\n"
      "  kernelpro diagnose --profile kept/profile.json --all-tools");
  command->callback([&options] {
    check_subject(options);
    options.command = CommandKind::diagnose;
    options.run_settings.backend = "cuda";
  });
}

// `kernelpro diagnose … -- PROGRAM ARGUMENTS`: takes what stands behind "--", which is not ours to
// parse, off the arguments. Returns how many are left.
int take_program(int argc, const char* const* argv, DiagnosisOptions& wanted) {
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
  wanted.program_given = true;
  wanted.program.assign(mark + 1, words.end());
  return static_cast<int>(mark - words.begin()) + 1;
}

void add_verify(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("verify", "Repeat what a certificate claims and say what differs");
  command->add_option("certificate", options.certificate, "A certificate written by `evaluate`")
      ->required();
  add_device(*command, options);
  add_judging(*command, options);
  add_output(*command, options);
  command->footer(
      "Builds the embedded source, repeats the recorded checks with their seeds and times it "
      "again.\n"
      "Example:\n  kernelpro verify my_gemm.certificate.json");
  command->callback([&options] { options.command = CommandKind::verify; });
}

void add_search(CLI::App& app, Options& options) {
  RunSettings& settings = options.run_settings;
  app.add_option("--search", settings.search, "mcts (default), greedy or random");
  app.add_option("--preset", settings.preset, "Of mcts: default or paper");
  app.add_option("--seed", settings.seed, "Of the search (default 1); the judge's are secret");
  app.add_option("--in-flight", settings.in_flight, "Candidates built side by side (default 2)")
      ->check(CLI::Range(1, most_in_flight));
  app.add_option("--tier", settings.tiers,
                 "Only moves of this tier (build, pragmas, nest, tune), repeatable; with --llm "
                 "the default is tune")
      ->allow_extra_args(false);
  app.add_option("--move", settings.moves, "Only this move (and those of --tier), repeatable")
      ->allow_extra_args(false);
  app.add_flag_function(
      "--no-fast-math", [&settings](std::int64_t) { settings.fast_math = false; },
      "No move may let the compiler reorder arithmetic");
  app.add_flag("--accept-suspect", settings.accept_suspect,
               "A result whose clock or bound is in doubt may be the best");
  app.add_option("--allow-precision", settings.allow_precision,
                 "Accept this lower precision (tf32, f16, bf16), repeatable")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"tf32", "f16", "bf16"}));
}

void add_objective(CLI::App& app, Options& options) {
  app.add_option_function<std::string>(
         "--objective",
         [&options](const std::string& value) {
           options.run_settings.objective = parse_objective(value).value_or(Objective::time);
         },
         "What decides among the finalists: time (default), energy (joules a call), "
         "time-then-energy (joules among the equally fast) or edp (joules times seconds)")
      ->check(CLI::IsMember({"time", "energy", "time-then-energy", "edp"}));
}

void add_feedback(CLI::App& app, Options& options) {
  app.add_option_function<std::string>(
         "--feedback",
         [&options](const std::string& value) {
           options.run_settings.feedback = parse_feedback(value).value_or(Feedback::tools);
         },
         "What a GPU's profile tells the search: tools (default: class and findings), raw (figures "
         "alone) or none")
      ->check(CLI::IsMember({"none", "raw", "tools"}));
}

void add_optimize(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("optimize", "Search for the fastest candidate of a task");
  command->add_option("task", options.task, "A task's name, folder or task.toml")->required();
  add_budgets(*command, options);
  add_search(*command, options);
  add_feedback(*command, options);
  add_objective(*command, options);
  command
      ->add_option("--from", options.starts,
                   "A candidate of yours to search from beside the baseline, repeatable")
      ->allow_extra_args(false);
  command->add_option("--export", options.export_directory,
                      "Write the best candidate into this folder at the end");
  command
      ->add_option("--batch", options.batch,
                   "Candidates that go out together: with --workers bundle:FILE (default 16) or "
                   "--llm batch:DIR (default: as many as are in flight)")
      ->check(CLI::Range(1, most_in_flight));
  add_llm_options(*command, options.llm);
  command->add_flag("--dry-run", options.dry_run,
                    "Show what the first call of a model would be and may cost, and end there");
  add_place(*command, options);
  add_store(*command, options);
  add_judging(*command, options);
  add_output(*command, options);
  command->footer(
      "Every candidate is judged as by `evaluate`, and everything is kept: Ctrl-C or a crash "
      "loses\n"
      "at most the evaluation under way, and `kernelpro resume` goes on.\n"
      "Exit code 0: something faster was found and confirmed; 3: not so; 4: waiting for a bundle "
      "or for\nthe answers of a batch.\n"
      "Example:\n  kernelpro optimize gemm --evaluations 60 --export fast_gemm\n"
      "  kernelpro optimize gemm --llm anthropic:MODEL --llm-tokens 2000000\n"
      "  kernelpro optimize gemm --llm openai:MODEL --base-url http://localhost:8000/v1\n"
      "  kernelpro optimize gemm --llm batch:questions");
  command->callback([&options] { options.command = CommandKind::optimize; });
}

void add_run_and_node(CLI::App& command, Options& options, bool with_node) {
  command.add_option("run", options.run, "A run's name, as `kernelpro runs` lists it")->required();
  if (with_node) {
    command.add_option("node", options.node, "A node's number (default: the best)")
        ->check(node_complaint, "");
  }
}

void add_resume(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("resume", "Go on with a run, with the same or more budget");
  add_run_and_node(*command, options, false);
  add_budgets(*command, options);
  add_llm_options(*command, options.llm);
  add_store(*command, options);
  add_output(*command, options);
  command->footer("Example:\n  kernelpro resume gemm-1 --evaluations 200");
  command->callback([&options] { options.command = CommandKind::resume; });
}

void add_looking(CLI::App& app, Options& options) {
  CLI::App* runs = app.add_subcommand("runs", "The runs of this store");
  runs->footer("Example:\n  kernelpro runs");
  runs->callback([&options] { options.command = CommandKind::runs; });
  CLI::App* show = app.add_subcommand(
      "show", "One node: source, difference to its parent and the baseline, verdict, timing");
  add_run_and_node(*show, options, true);
  show->footer("Example:\n  kernelpro show gemm-1 17");
  show->callback([&options] { options.command = CommandKind::show; });
  CLI::App* why = app.add_subcommand("why", "Why a node was tried, and why its branch was closed");
  add_run_and_node(*why, options, true);
  why->footer("Example:\n  kernelpro why gemm-1 17");
  why->callback([&options] { options.command = CommandKind::why; });
  CLI::App* report = app.add_subcommand("report", "A run as a whole");
  add_run_and_node(*report, options, false);
  report->add_option("more", options.more_runs, "Further runs: then one table of them all");
  report->add_option("--format", options.format, "text (default), markdown or json")
      ->check(CLI::IsMember({"text", "markdown", "json"}));
  report->footer("Example:\n  kernelpro report gemm-1 --format markdown");
  report->callback([&options] { options.command = CommandKind::report; });
  CLI::App* tools = app.add_subcommand(
      "tools",
      "What the findings of the micro-profiling tools led to, over all runs of this store");
  tools->add_option("runs", options.more_runs, "These runs only");
  tools->footer("Example:\n  kernelpro tools");
  tools->callback([&options] { options.command = CommandKind::tools; });
  CLI::App* prompt = app.add_subcommand(
      "prompt", "What a model would be asked for a child of a node, and what that may cost");
  add_run_and_node(*prompt, options, true);
  prompt->footer("Example:\n  kernelpro prompt gemm-1 17");
  prompt->callback([&options] { options.command = CommandKind::prompt; });
  CLI::App* transcript = app.add_subcommand(
      "transcript", "Every call of a model in a run, one JSON line each, for replay:FILE");
  add_run_and_node(*transcript, options, false);
  transcript->add_option("--into", options.into, "The file to write (default: standard output)");
  transcript->footer(
      "Example:\n  kernelpro transcript gemm-1 --into gemm.jsonl\n"
      "  kernelpro optimize gemm --llm replay:gemm.jsonl");
  transcript->callback([&options] { options.command = CommandKind::transcript; });
  for (CLI::App* command : {runs, show, why, report, tools, prompt, transcript}) {
    add_store(*command, options);
    add_output(*command, options);
  }
}

void add_export(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "export", "Take a candidate home: source, header, build line, benchmark, certificate");
  command->add_option("run", options.run, "A run's name")->required();
  auto places = std::make_shared<std::vector<std::string>>();
  command->add_option("node_and_directory", *places, "[NODE] DIRECTORY; without NODE the best")
      ->required()
      ->expected(1, 2)
      ->type_name("[NODE] DIRECTORY");
  command
      ->add_option("--as", options.export_form,
                   "source (default); of a task made from a KernelBench problem: kernelbench, one "
                   "file for the benchmark's evaluator, or torch, a package with an operator and a "
                   "drop-in module")
      ->check(CLI::IsMember(export_form_names()));
  command->add_flag("--overwrite", options.overwrite, "Replace files that are there");
  command->add_flag("--accept-suspect", options.accept_suspect,
                    "Export a result whose clock or bound is in doubt");
  add_store(*command, options);
  add_output(*command, options);
  command->footer(
      "Example:\n  kernelpro export gemm-1 fast_gemm\n"
      "  kernelpro export kernelbench_1_12-1 for_the_benchmark --as kernelbench");
  command->callback([&options, places] {
    options.command = CommandKind::export_run;
    options.export_directory = places->back();
    if (places->size() == 2) {
      options.node = node_number(places->front());
    }
  });
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
  add_optimize(app, options);
  add_resume(app, options);
  add_looking(app, options);
  add_export(app, options);
  add_task(app, options);
  add_machine(app, options);
  add_bench(app, options);
  try {
    app.parse(take_program(argc, argv, options.diagnosis), argv);
    if (options.command == CommandKind::help) {
      std::cerr << app.help();
      parsed.finished = true;
      parsed.exit_code = exit_usage;
    }
  } catch (const CLI::ParseError& error) {
    parsed.finished = true;
    parsed.exit_code = app.exit(error, std::cout, std::cerr) == 0 ? exit_done : exit_usage;
  }
  return parsed;
}

}  // namespace kernelpro
