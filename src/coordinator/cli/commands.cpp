#include "coordinator/cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/cli/progress.hpp"
#include "coordinator/cli/source_header.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/report/table.hpp"
#include "coordinator/report/verdict_text.hpp"
#include "coordinator/task/load.hpp"

namespace kernelpro {

namespace {

int exit_code_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::bad_input:
      return exit_bad_input;
    case ErrorKind::interrupted:
      return exit_interrupted;
    default:
      return exit_environment;
  }
}

std::string_view kind_text(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return "bad_input";
    case ErrorKind::environment:
      return "environment";
    case ErrorKind::io:
      return "io";
    case ErrorKind::busy:
      return "busy";
    case ErrorKind::lost:
      return "lost";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::interrupted:
      return "interrupted";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

int report_error(const Options& options, const Error& error) {
  if (options.json) {
    const nlohmann::json json = {{"error",
                                  {{"kind", kind_text(error.kind)},
                                   {"message", error.message},
                                   {"context", error.context}}}};
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  fmt::print(stderr, "kernelpro: {}\n", error.text());
  return exit_code_of(error);
}

void print_json(const nlohmann::json& json) {
  fmt::print("{}\n", json.dump(2));
}

OpenOrder open_order(const Options& options, Task task) {
  OpenOrder order;
  order.task = std::move(task);
  order.sandbox = options.sandbox;
  order.threads = options.threads;
  order.call_timeout_ms = static_cast<std::int64_t>(options.timeout_seconds * 1000);
  order.timing_seconds = options.timing_seconds;
  return order;
}

Result<Task> load_named_task(const std::string& name) {
  const Result<std::filesystem::path> path = find_task(name);
  return path ? load_task(*path) : Result<Task>(path.error());
}

Result<Candidate> load_candidate(const std::string& file, const Options& options) {
  Result<std::string> source = read_file(file);
  if (!source) {
    return make_error(ErrorKind::bad_input, source.error().message, source.error().context);
  }
  const SourceHeader header = read_source_header(*source);
  Candidate candidate;
  candidate.name = std::filesystem::path(file).stem().string();
  candidate.source = std::move(*source);
  candidate.compiler = options.compiler.empty() ? header.compiler : options.compiler;
  candidate.options = options.build_options.empty() ? header.options : options.build_options;
  return candidate;
}

bool is_implementation(const Task& task, const std::string& name) {
  return find_implementation(task.baselines, name) != nullptr ||
         find_implementation(task.comparators, name) != nullptr;
}

// What to evaluate, in the user's order: files, or the task's own implementations by name.
Result<std::vector<EvaluateOrder>> evaluate_orders(const Options& options, const Task& task) {
  std::optional<Candidate> incumbent;
  if (!options.incumbent.empty()) {
    Result<Candidate> loaded = load_candidate(options.incumbent, options);
    if (!loaded) {
      return loaded.error();
    }
    incumbent = std::move(*loaded);
  }
  std::vector<EvaluateOrder> orders;
  for (const std::string& source : options.sources) {
    EvaluateOrder order;
    order.incumbent = incumbent;
    order.allow_precision = options.allow_precision;
    order.timed = options.timed;
    if (is_implementation(task, source)) {
      order.implementation = source;
    } else {
      Result<Candidate> candidate = load_candidate(source, options);
      if (!candidate) {
        return candidate.error();
      }
      order.candidate = std::move(*candidate);
    }
    orders.push_back(std::move(order));
  }
  return orders;
}

Status write_certificate(const std::filesystem::path& directory, const Evaluated& evaluated) {
  KP_TRY(make_directories(directory));
  const std::string name = evaluated.certificate.task.name + "-" +
                           evaluated.certificate.candidate.name + ".certificate.json";
  return write_file_atomic(directory / name, to_json(evaluated.certificate).dump(2) + "\n");
}

// An opened task, or why it cannot be used. Lint errors refuse it.
Result<Opened> open_task(WorkerClient& worker, const Options& options, const Task& task,
                         std::stop_token stop) {
  Result<Opened> opened = worker.open(open_order(options, task), stop);
  if (!opened) {
    return opened;
  }
  for (const LintFinding& finding : opened->findings) {
    if (finding.level == LintLevel::error) {
      return make_error(ErrorKind::bad_input,
                        finding.text +
                            "; the task cannot tell right from wrong (`kernelpro task "
                            "check` says more)",
                        "task " + task.name);
    }
  }
  return opened;
}

nlohmann::json evaluations_json(const std::vector<Evaluated>& evaluations) {
  nlohmann::json list = nlohmann::json::array();
  for (const Evaluated& evaluated : evaluations) {
    list.push_back(to_json(evaluated));
  }
  return {{"evaluations", list}};
}

void print_evaluations(const Options& options, const std::vector<Evaluated>& evaluations) {
  if (options.json) {
    print_json(evaluations_json(evaluations));
  } else if (evaluations.size() == 1) {
    fmt::print("{}", evaluation_text(evaluations.front()));
  } else {
    fmt::print("{}", verdict_table(evaluations));
  }
}

int judged_exit_code(const Options& options, const std::vector<Evaluated>& evaluations) {
  for (const Evaluated& evaluated : evaluations) {
    if (evaluated.certificate.verdict.outcome == Outcome::not_judged) {
      return exit_environment;
    }
  }
  const bool all_passed =
      std::all_of(evaluations.begin(), evaluations.end(), [](const Evaluated& evaluated) {
        return evaluated.certificate.verdict.outcome == Outcome::passed;
      });
  const bool faster =
      evaluations.back().certificate.verdict.timing.comparison == Comparison::faster;
  return all_passed && (faster || !options.timed) ? exit_done : exit_not_passed;
}

int evaluate(const Options& options, std::stop_token stop) {
  const Result<Task> task = load_named_task(options.task);
  if (!task) {
    return report_error(options, task.error());
  }
  const Result<std::vector<EvaluateOrder>> orders = evaluate_orders(options, *task);
  if (!orders) {
    return report_error(options, orders.error());
  }
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return report_error(options, worker.error());
  }
  ProgressLine progress(!options.quiet);
  progress.show(task->name + ": opening (reference, baseline, ceilings, noise floor)");
  if (const Result<Opened> opened = open_task(*worker, options, *task, stop); !opened) {
    progress.clear();
    return report_error(options, opened.error());
  }
  std::vector<Candidate> to_build;
  for (const EvaluateOrder& order : *orders) {
    if (order.candidate) {
      to_build.push_back(*order.candidate);
    }
  }
  progress.show(fmt::format("{}: building {} candidates", task->name, to_build.size()));
  if (const Status built = worker->build(to_build, stop); !built) {
    progress.clear();
    return report_error(options, built.error());
  }
  std::vector<Evaluated> evaluations;
  for (const EvaluateOrder& order : *orders) {
    const std::string name = order.candidate ? order.candidate->name : order.implementation;
    worker->on_event([&](const WorkerEvent& event) {
      progress.show(fmt::format("{} {}/{} {}: {}", task->name, evaluations.size() + 1,
                                orders->size(), name, event.text));
    });
    Result<Evaluated> evaluated = worker->evaluate(order, stop);
    if (!evaluated) {
      progress.clear();
      if (!evaluations.empty()) {
        print_evaluations(options, evaluations);
      }
      return report_error(options, evaluated.error());
    }
    if (!options.certificate_directory.empty()) {
      if (const Status written = write_certificate(options.certificate_directory, *evaluated);
          !written) {
        progress.clear();
        return report_error(options, written.error());
      }
    }
    evaluations.push_back(std::move(*evaluated));
  }
  progress.clear();
  print_evaluations(options, evaluations);
  return judged_exit_code(options, evaluations);
}

Result<Certificate> load_certificate(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) {
    return make_error(ErrorKind::bad_input, text.error().message, text.error().context);
  }
  const Result<nlohmann::json> json = parse_json(*text);
  if (!json) {
    return make_error(ErrorKind::bad_input, json.error().text(), path.string());
  }
  Result<Certificate> certificate = certificate_from_json(*json);
  if (!certificate) {
    return make_error(ErrorKind::bad_input, certificate.error().text(), path.string());
  }
  return certificate;
}

// The order that repeats a certificate: same source, same seeds, same shapes.
EvaluateOrder repetition(const Certificate& certificate) {
  EvaluateOrder order;
  const Candidate& candidate = certificate.candidate;
  const Task& task = certificate.task;
  if (is_implementation(task, candidate.name) && !candidate.libraries.empty()) {
    order.implementation = candidate.name;
  } else {
    order.candidate = candidate;
  }
  const bool against_baseline =
      std::any_of(task.baselines.begin(), task.baselines.end(), [&](const ImplementationSpec& b) {
        return task.files.at(b.file) == certificate.incumbent.source;
      });
  if (!against_baseline) {
    order.incumbent = certificate.incumbent;
  }
  order.seed = certificate.seed;
  const bool passed = certificate.verdict.outcome == Outcome::passed;
  if (passed) {
    order.repeat_checks = certificate.verdict.checks;
  }
  order.timed = !passed || certificate.verdict.timing.comparison != Comparison::not_timed;
  if (certificate.verdict.precision != "contract") {
    order.allow_precision = {certificate.verdict.precision};
  }
  return order;
}

nlohmann::json differences_json(const std::vector<Difference>& differences, bool holds) {
  nlohmann::json list = nlohmann::json::array();
  for (const Difference& difference : differences) {
    list.push_back({{"what", difference.what},
                    {"before", difference.before},
                    {"now", difference.now},
                    {"matters", difference.matters}});
  }
  return {{"holds", holds}, {"differences", list}};
}

int verify(const Options& options, std::stop_token stop) {
  const Result<Certificate> before = load_certificate(options.certificate);
  if (!before) {
    return report_error(options, before.error());
  }
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return report_error(options, worker.error());
  }
  ProgressLine progress(!options.quiet);
  progress.show(before->task.name + ": opening");
  if (const Result<Opened> opened = open_task(*worker, options, before->task, stop); !opened) {
    progress.clear();
    return report_error(options, opened.error());
  }
  worker->on_event([&](const WorkerEvent& event) {
    progress.show(before->task.name + " " + before->candidate.name + ": " + event.text);
  });
  const Result<Evaluated> now = worker->evaluate(repetition(*before), stop);
  progress.clear();
  if (!now) {
    return report_error(options, now.error());
  }
  const std::vector<Difference> differences = compare_certificates(*before, now->certificate);
  const bool holds = std::none_of(differences.begin(), differences.end(),
                                  [](const Difference& difference) { return difference.matters; });
  if (options.json) {
    nlohmann::json json = differences_json(differences, holds);
    json["evaluation"] = to_json(*now);
    print_json(json);
  } else {
    fmt::print("{}", evaluation_text(*now));
    fmt::print("\ncertificate of {}: {}\n", before->date, holds ? "holds" : "does not hold");
    for (const Difference& difference : differences) {
      fmt::print("  {}{}: {} → {}\n", difference.matters ? "! " : "", difference.what,
                 difference.before, difference.now);
    }
    if (differences.empty()) {
      fmt::print("  nothing differs\n");
    }
  }
  if (now->certificate.verdict.outcome == Outcome::not_judged) {
    return exit_environment;
  }
  return holds ? exit_done : exit_not_passed;
}

int task_list(const Options& options) {
  const std::vector<TaskListing> tasks = list_tasks();
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const TaskListing& task : tasks) {
      list.push_back({{"name", task.name},
                      {"family", task.family},
                      {"summary", task.summary},
                      {"directory", task.directory.string()},
                      {"error", task.error}});
    }
    print_json({{"tasks", list}});
    return exit_done;
  }
  Table table({"task", "family", "what it computes"});
  for (const TaskListing& task : tasks) {
    table.add({task.name, task.family, task.error.empty() ? task.summary : "! " + task.error});
  }
  fmt::print("{}", table.text());
  return exit_done;
}

int task_check(const Options& options, std::stop_token stop) {
  const Result<Task> task = load_named_task(options.task);
  if (!task) {
    return report_error(options, task.error());
  }
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return report_error(options, worker.error());
  }
  ProgressLine progress(!options.quiet);
  progress.show(task->name + ": checking");
  const Result<Opened> opened = worker->open(open_order(options, *task), stop);
  if (!opened) {
    progress.clear();
    return report_error(options, opened.error());
  }
  const Result<std::vector<LintFinding>> findings = worker->check(stop);
  progress.clear();
  if (!findings) {
    return report_error(options, findings.error());
  }
  const auto errors = std::count_if(findings->begin(), findings->end(), [](const LintFinding& f) {
    return f.level == LintLevel::error;
  });
  if (options.json) {
    nlohmann::json json = to_json(*findings);
    json["task"] = task->name;
    json["fit"] = errors == 0;
    print_json(json);
  } else {
    for (const LintFinding& finding : *findings) {
      fmt::print("  {:7} {:12} {}\n", name_of(finding.level), finding.rule, finding.text);
    }
    fmt::print(
        "{}: {}\n", task->name,
        errors == 0 ? "fit to judge by" : fmt::format("not fit to judge by, {} errors", errors));
  }
  return errors == 0 ? exit_done : exit_bad_input;
}

int task_new(const Options& options) {
  const Result<std::filesystem::path> made = create_task(options.new_task);
  if (!made) {
    return report_error(options, made.error());
  }
  if (options.json) {
    print_json({{"directory", made->string()}});
  } else {
    fmt::print(
        "{}\nNext: set the shapes and formulas in task.toml, then `kernelpro task check {}`\n",
        made->string(), made->string());
  }
  return exit_done;
}

int ceilings(const Options& options, std::stop_token stop) {
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return report_error(options, worker.error());
  }
  const Result<Ceilings> measured = worker->ceilings(options.refresh, stop);
  if (!measured) {
    return report_error(options, measured.error());
  }
  if (options.json) {
    print_json(to_json(*measured));
    return exit_done;
  }
  Table table({"ceiling", "threads", "median", "5 %", "95 %", "unit"});
  for (const Ceiling& ceiling : measured->list) {
    table.add({ceiling.name, std::to_string(ceiling.threads), fmt::format("{:.1f}", ceiling.median),
               fmt::format("{:.1f}", ceiling.low), fmt::format("{:.1f}", ceiling.high),
               ceiling.unit});
  }
  fmt::print("{}", table.text());
  return exit_done;
}

// The noise floor a user can expect: two processes of one axpy against each other.
Result<double> measured_noise(WorkerClient& worker, std::stop_token stop) {
  const Result<Task> task = load_named_task("axpy");
  if (!task) {
    return task.error();
  }
  OpenOrder order;
  order.task = *task;
  const Result<Opened> opened = worker.open(order, stop);
  if (!opened) {
    return opened.error();
  }
  double worst = 0;
  for (const OpenedShape& shape : opened->shapes) {
    worst = std::max(worst, shape.noise_floor);
  }
  return worst;
}

void print_doctor(const WorkerDescription& machine, const Result<double>& noise) {
  fmt::print("kernelpro {} on {}, {} cores, {:.0f} GiB, last-level cache {:.0f} MiB\n",
             machine.version, machine.machine.processor, machine.machine.cores,
             static_cast<double>(machine.machine.memory_bytes) / (1 << 30),
             static_cast<double>(machine.machine.cache_bytes) / (1 << 20));
  fmt::print("  landlock ABI {}, {}\n", machine.machine.landlock_abi, machine.machine.kernel);
  for (const CompilerDescription& compiler : machine.compilers) {
    fmt::print("  {}: {}; target: {}; OpenMP: {}\n", compiler.name, compiler.identity,
               compiler.target_flags.empty()
                   ? "generic"
                   : fmt::format("{}", fmt::join(compiler.target_flags, " ")),
               compiler.openmp_flags.empty() ? "no" : "yes");
  }
  if (noise) {
    fmt::print("  noise floor {:.1f} %: smaller differences cannot be shown here\n", 100 * *noise);
  }
  for (const Problem& problem : machine.problems) {
    fmt::print("  {} {}\n    {}\n", problem.fatal ? "missing:" : "optional:", problem.what,
               problem.remedy);
  }
}

int doctor(const Options& options, std::stop_token stop) {
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return report_error(options, worker.error());
  }
  Result<WorkerDescription> machine = worker->describe(stop);
  if (!machine) {
    return report_error(options, machine.error());
  }
  const bool fatal = std::any_of(machine->problems.begin(), machine->problems.end(),
                                 [](const Problem& problem) { return problem.fatal; });
  const Result<double> noise =
      fatal ? Result<double>(make_error(ErrorKind::environment, "nothing can be judged here"))
            : measured_noise(*worker, stop);
  if (!noise && !fatal) {
    machine->problems.push_back({"the noise floor could not be measured: " + noise.error().text(),
                                 "mend that and run doctor again", true});
  }
  if (options.json) {
    nlohmann::json json = to_json(*machine);
    json["noise_floor"] = noise ? nlohmann::json(*noise) : nlohmann::json();
    print_json(json);
  } else {
    print_doctor(*machine, noise);
  }
  return noise ? exit_done : exit_environment;
}

}  // namespace

int run_command_line(const Options& options, std::stop_token stop) {
  switch (options.command) {
    case CommandKind::evaluate:
      return evaluate(options, stop);
    case CommandKind::verify:
      return verify(options, stop);
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
    case CommandKind::help:
      break;
  }
  return exit_usage;
}

}  // namespace kernelpro
