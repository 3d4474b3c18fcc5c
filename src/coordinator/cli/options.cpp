#include "coordinator/cli/options.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

namespace kernelpro {

namespace {

constexpr int most_threads = 4096;
constexpr double least_seconds = 0.001;
constexpr double most_seconds = 3600;

// Splits "A=m,k" at the first '='.
std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     const std::string& flag) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    throw CLI::ValidationError(flag, "expected NAME=VALUE, found \"" + text + "\"");
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    out.push_back(part);
  }
  return out;
}

void add_output(CLI::App& app, Options& options) {
  app.add_flag("--json", options.json, "Print the result as JSON");
  app.add_flag("--quiet", options.quiet, "No progress lines");
}

void add_judging(CLI::App& app, Options& options) {
  app.add_option("--threads", options.threads, "Threads a candidate may use (default: all cores)")
      ->check(CLI::Range(1, most_threads));
  app.add_option("--timeout", options.timeout_seconds,
                 "Seconds a call gets at least (default 2; slow tasks get more)")
      ->check(CLI::Range(least_seconds, most_seconds));
  app.add_option("--timing", options.timing_seconds,
                 "Seconds aimed at for the rounds of one shape (default 0.25)")
      ->check(CLI::Range(least_seconds, most_seconds));
  app.add_option_function<std::string>(
         "--sandbox", [&options](const std::string& value) { options.sandbox = value != "none"; },
         "landlock (default), or none: every result is then marked unverified")
      ->check(CLI::IsMember({"landlock", "none"}));
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
  command->add_option("--compiler", options.compiler, "g++ or clang++-19 (default: g++)");
  command
      ->add_option(
          "--option", options.build_options,
          "A build option, repeatable: -O3, -ffast-math, or the words target and openmp for "
          "the probed flags. Default: what `// kp:options` in the source says, else -O2")
      ->allow_extra_args(false);
  command
      ->add_option("--allow-precision", options.allow_precision,
                   "Accept this lower precision (tf32, f16, bf16), repeatable")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"tf32", "f16", "bf16"}));
  command->add_flag_function(
      "--no-timing", [&options](std::int64_t) { options.timed = false; }, "Correctness only");
  command->add_option("--certificates", options.certificate_directory,
                      "Write NAME.certificate.json for each candidate into this folder");
  add_judging(*command, options);
  add_output(*command, options);
  command->footer(
      "Exit code 0: every candidate passed and the last is faster; 3: judged, not so.\n"
      "Example:\n  kernelpro evaluate gemm my_gemm.cpp --option -O3 --option target --option "
      "openmp");
  command->callback([&options] { options.command = CommandKind::evaluate; });
}

void add_verify(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("verify", "Repeat what a certificate claims and say what differs");
  command->add_option("certificate", options.certificate, "A certificate written by `evaluate`")
      ->required();
  add_judging(*command, options);
  add_output(*command, options);
  command->footer(
      "Builds the embedded source, repeats the recorded checks with their seeds and times it "
      "again.\n"
      "Example:\n  kernelpro verify my_gemm.certificate.json");
  command->callback([&options] { options.command = CommandKind::verify; });
}

void add_task_new(CLI::App& task, Options& options) {
  CLI::App* command = task.add_subcommand("new", "Write a task around a function of your own");
  NewTask& wanted = options.new_task;
  command->add_option("name", wanted.name, "Name of the task: letters, digits, underscores")
      ->required();
  command->add_option("--from", wanted.source, "The C++ file")->required();
  command->add_option("--entry", wanted.entry, "The function in it")->required();
  command
      ->add_option_function<std::vector<std::string>>(
          "--shape",
          [&wanted](const std::vector<std::string>& all) {
            for (const std::string& text : all) {
              const auto [name, shape] = split_assignment(text, "--shape");
              wanted.shapes[name] = split_commas(shape);
            }
          },
          "Shape of a pointer argument, repeatable: --shape A=m,k")
      ->allow_extra_args(false);
  command->add_option("--inout", wanted.inouts, "A pointer that is read and written, repeatable")
      ->allow_extra_args(false);
  command
      ->add_option_function<std::vector<std::string>>(
          "--values",
          [&wanted](const std::vector<std::string>& all) {
            for (const std::string& text : all) {
              const auto [name, kind] = split_assignment(text, "--values");
              wanted.values[name] = kind;
            }
          },
          "How an input is drawn, repeatable: --values idx=index:n")
      ->allow_extra_args(false);
  command->add_option("--flops", wanted.flops, "Floating operations as a formula: \"2*m*n*k\"");
  command->add_option("--reduction", wanted.reduction,
                      "Length over which rounding accumulates, as a formula (default 1)");
  command->add_option("--directory", wanted.directory, "Where the task folder is made")
      ->default_val("tasks");
  add_output(*command, options);
  command->footer(
      "Example:\n  kernelpro task new blur --from blur.cpp --entry blur --shape in=h,w --shape "
      "out=h,w");
  command->callback([&options] { options.command = CommandKind::task_new; });
}

void add_task(CLI::App& app, Options& options) {
  CLI::App* task = app.add_subcommand("task", "List, check and make tasks");
  task->require_subcommand(0, 1);
  task->footer("Example:\n  kernelpro task list");
  CLI::App* list = task->add_subcommand("list", "The tasks that are found, and where");
  add_output(*list, options);
  list->footer("Example:\n  kernelpro task list");
  list->callback([&options] { options.command = CommandKind::task_list; });
  CLI::App* check = task->add_subcommand("check", "Is a task fit to judge by?");
  check->add_option("task", options.task, "A task's name, folder or task.toml")->required();
  add_judging(*check, options);
  add_output(*check, options);
  check->footer(
      "Tries trivial outputs, redraws every input, counts the reference's operations, and judges\n"
      "honest and broken variants of the baseline.\nExample:\n  kernelpro task check gemm");
  check->callback([&options] { options.command = CommandKind::task_check; });
  add_task_new(*task, options);
}

void add_machine(CLI::App& app, Options& options) {
  CLI::App* ceilings = app.add_subcommand("ceilings", "What this machine can do at most, measured");
  ceilings->add_flag("--refresh", options.refresh, "Measure again even when cached");
  add_output(*ceilings, options);
  ceilings->footer("Example:\n  kernelpro ceilings");
  ceilings->callback([&options] { options.command = CommandKind::ceilings; });
  CLI::App* doctor =
      app.add_subcommand("doctor", "What is there, what is missing and how to get it");
  add_output(*doctor, options);
  doctor->footer("Example:\n  kernelpro doctor");
  doctor->callback([&options] { options.command = CommandKind::doctor; });
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
  add_verify(app, options);
  add_task(app, options);
  add_machine(app, options);
  try {
    app.parse(argc, argv);
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
