#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/date.hpp"
#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/machine_lock.hpp"
#include "common/base/paths.hpp"
#include "common/base/python.hpp"
#include "common/wire/suite_json.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/progress.hpp"
#include "coordinator/cli/suite_judge.hpp"
#include "coordinator/report/kernelbench_comparison.hpp"
#include "coordinator/report/kernelbench_table.hpp"
#include "coordinator/suite/checkout.hpp"
#include "coordinator/suite/suite_file.hpp"
#include "coordinator/suite/survey.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr int survey_rounds = 10;

// What is to be measured.
struct Plan {
  std::vector<SuiteProblem> problems;
  std::map<ProblemId, fs::path> candidates;
  std::vector<std::string> modes;
};

// What it is measured on.
struct Place {
  SuiteHeader header;
  std::string lock;  // the device's, for MachineLock
  Command survey;
};

Result<Plan> make_plan(const Options& options) {
  const SuiteOptions& suite = options.suite;
  const Result<std::vector<int>> levels = parse_numbers(suite.levels, "--levels");
  if (!levels) {
    return levels.error();
  }
  Result<std::vector<int>> numbers = std::vector<int>();
  if (!suite.problems.empty()) {
    numbers = parse_numbers(suite.problems, "--problems");
  }
  if (!numbers) {
    return numbers.error();
  }
  const Result<std::vector<SuiteProblem>> all = list_problems(suite.checkout, *levels);
  if (!all) {
    return all.error();
  }
  const Result<std::vector<SuiteProblem>> chosen = choose_problems(*all, *numbers);
  if (!chosen) {
    return chosen.error();
  }
  Plan plan{*chosen, {}, {eager_mode, fp32_mode, tf32_mode}};
  if (suite.compile) {
    plan.modes.emplace_back(compile_mode);
  }
  if (!suite.candidates.empty()) {
    const char* const extension = options.run_settings.backend == "cuda" ? ".cu" : ".cpp";
    Result<std::map<ProblemId, fs::path>> found =
        find_candidates(suite.candidates, extension, *all);
    if (!found) {
      return found.error();
    }
    plan.candidates = std::move(*found);
  }
  return plan;
}

// What the options change about times.
std::string conditions(const Options& options) {
  std::vector<std::string> parts;
  if (options.threads > 0) {
    parts.push_back(fmt::format("threads {}", options.threads));
  }
  if (options.warm) {
    parts.emplace_back("warm");
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Result<const GpuRecord*> chosen_gpu(const WorkerDescription& worker, int device) {
  const std::vector<GpuRecord>& gpus = worker.machine.gpus;
  if (device >= std::ssize(gpus)) {
    return make_error(
        ErrorKind::environment,
        fmt::format("there is no GPU {}; the driver shows {} (`kernelpro doctor` says "
                    "more)",
                    device, gpus.size()));
  }
  return &gpus[static_cast<std::size_t>(device)];
}

Result<Place> find_place(const Options& options, SuiteJudge& judge, const fs::path& script,
                         std::stop_token stop) {
  const Result<Python> python = python_with_torch();
  if (!python) {
    return python.error();
  }
  const Result<WorkerDescription> worker = judge.describe(stop);
  if (!worker) {
    return worker.error();
  }
  const RunSettings& settings = options.run_settings;
  Place place;
  place.lock = "cpu";
  place.header.machine = worker->machine.processor;
  if (settings.backend == "cuda") {
    const Result<const GpuRecord*> gpu = chosen_gpu(*worker, settings.device);
    if (!gpu) {
      return gpu.error();
    }
    place.lock = (*gpu)->uuid;
    place.header.machine = (*gpu)->name;
  }
  place.header.program_version = worker->version;
  place.header.date = utc_now();
  place.header.backend = settings.backend;
  place.header.torch = python->torch;
  place.header.kernelbench = checkout_commit(options.suite.checkout);
  place.header.conditions = conditions(options);
  place.survey.arguments = {python->path, script.string(), "survey"};
  place.survey.inherit_environment = true;
  place.survey.environment = survey_environment(settings.backend, settings.device);
  return place;
}

// Goes through the problems and puts what is measured into the file.
class Suite {
 public:
  Suite(const Options& options, const Plan& plan, const Place& place, SuiteFile& file,
        SuiteJudge& judge)
      : options_(options),
        plan_(plan),
        place_(place),
        file_(file),
        judge_(judge),
        survey_(place.survey, static_cast<std::int64_t>(options.suite.limit_seconds * 1000)) {}

  [[nodiscard]] Status run(std::stop_token stop) {
    ProgressLine progress(!options_.quiet);
    std::size_t done = 0;
    for (const SuiteProblem& problem : plan_.problems) {
      const std::string label =
          fmt::format("kernelbench {}/{} {} {}", ++done, plan_.problems.size(), text_of(problem.id),
                      problem.name);
      Status status = one(problem, progress, label, stop);
      if (!status && status.error().kind == ErrorKind::interrupted) {
        return make_error(
            ErrorKind::interrupted,
            fmt::format("interrupted; {} of {} problems are done, the same command goes on",
                        done - 1, plan_.problems.size()));
      }
      KP_TRY(status);
    }
    return {};
  }

 private:
  [[nodiscard]] Status one(const SuiteProblem& problem, ProgressLine& progress,
                           const std::string& label, std::stop_token stop) {
    const Result<std::string> text = read_file(problem.file);
    if (!text) {
      return text.error();
    }
    const auto found = file_.content().records.find(problem.id);
    SuiteRecord record = found != file_.content().records.end() ? found->second : SuiteRecord();
    bool changed = false;
    if (const std::string hash = sha256(*text); record.problem_hash != hash) {
      record = SuiteRecord();
      record.problem = problem.id;
      record.name = problem.name;
      record.problem_hash = hash;
      changed = true;
    }
    if (changed || needs_survey(record)) {
      progress.show(label + ": PyTorch's times");
      KP_TRY(survey(problem, record, stop));
      changed = true;
    }
    const Result<bool> judged = with_candidate(problem, record, progress, label, stop);
    if (!judged) {
      return judged.error();
    }
    if (!changed && !*judged) {
      return {};
    }
    record.date = utc_now();
    return file_.append(record);
  }

  [[nodiscard]] bool needs_survey(const SuiteRecord& record) const {
    if (!record.failed.empty()) {
      return options_.suite.retry;
    }
    return std::ranges::any_of(plan_.modes, [&](const std::string& mode) {
      return !record.times.contains(mode) && !record.untimed.contains(mode);
    });
  }

  // Asks PyTorch alone on the device.
  [[nodiscard]] Result<SurveyAnswer> ask(const SuiteProblem& problem, std::stop_token stop) {
    const Result<MachineLock> lock =
        MachineLock::acquire(place_.lock, LockMode::timing, machine_lock_timeout_ms(), stop);
    if (!lock) {
      return lock.error();
    }
    return survey_.ask(problem.file, plan_.modes, survey_rounds, stop);
  }

  [[nodiscard]] Status survey(const SuiteProblem& problem, SuiteRecord& record,
                              std::stop_token stop) {
    const Result<SurveyAnswer> answer = ask(problem, stop);
    if (!answer) {
      const ErrorKind kind = answer.error().kind;
      if (kind != ErrorKind::lost && kind != ErrorKind::timeout) {
        return answer.error();
      }
      record.failed = answer.error().text();
      return {};
    }
    if (options_.run_settings.backend == "cuda" && answer->device == "cpu") {
      return make_error(ErrorKind::environment,
                        "this PyTorch sees no GPU: install one with CUDA, or set KERNELPRO_PYTHON",
                        place_.survey.arguments.front());
    }
    record.failed.clear();
    record.refused = answer->refused;
    record.described = answer->described;
    for (const std::string& reason : answer->degenerate) {
      if (std::ranges::count(record.degenerate, reason) == 0) {
        record.degenerate.push_back(reason);
      }
    }
    record.times = answer->times;
    record.untimed = answer->failed;
    for (const std::string& mode : plan_.modes) {
      if (!record.times.contains(mode) && !record.untimed.contains(mode)) {
        record.untimed[mode] = answer->refused.empty() ? "PyTorch did not say" : answer->refused;
      }
    }
    return {};
  }

  // Whether the record changed.
  [[nodiscard]] Result<bool> with_candidate(const SuiteProblem& problem, SuiteRecord& record,
                                            ProgressLine& progress, const std::string& label,
                                            std::stop_token stop) {
    if (options_.suite.candidates.empty()) {
      return false;
    }
    const auto source = plan_.candidates.find(problem.id);
    if (source == plan_.candidates.end()) {
      const bool had_one = record.candidate.has_value();
      record.candidate.reset();
      return had_one;
    }
    const Result<std::string> text = read_file(source->second);
    if (!text) {
      return text.error();
    }
    const std::string hash = sha256(*text);
    if (!needs_judging(record, hash)) {
      return false;
    }
    progress.show(label + ": opening");
    const auto show = [&](const WorkerEvent& event) { progress.show(label + ": " + event.text); };
    KP_TRY(judge_.judge(problem, source->second, hash, record, show, stop));
    return true;
  }

  [[nodiscard]] bool needs_judging(const SuiteRecord& record, const std::string& hash) const {
    return !record.candidate || record.candidate->source_hash != hash ||
           record.candidate->allow_precision != options_.allow_precision ||
           (options_.suite.retry && record.candidate->outcome == Outcome::not_judged);
  }

  const Options& options_;
  const Plan& plan_;
  const Place& place_;
  SuiteFile& file_;
  SuiteJudge& judge_;
  Survey survey_;
};

std::vector<SuiteRecord> all_records(const SuiteContent& content) {
  std::vector<SuiteRecord> records;
  for (const auto& [problem, record] : content.records) {
    records.push_back(record);
  }
  return records;
}

std::vector<SuiteRecord> planned_records(const SuiteContent& content, const Plan& plan) {
  std::vector<SuiteRecord> records;
  for (const SuiteProblem& problem : plan.problems) {
    if (const auto found = content.records.find(problem.id); found != content.records.end()) {
      records.push_back(found->second);
    }
  }
  return records;
}

std::string header_text(const SuiteHeader& header, std::size_t problems) {
  return fmt::format("KernelBench{} on {}, PyTorch {}, backend {}{}: {} problem{}\n\n",
                     header.kernelbench.empty() ? "" : " " + header.kernelbench.substr(0, 7),
                     header.machine, header.torch, header.backend,
                     header.conditions.empty() ? "" : ", " + header.conditions, problems,
                     problems == 1 ? "" : "s");
}

nlohmann::json result_json(const SuiteHeader& header, const std::vector<SuiteRecord>& records,
                           const SuiteSummary& summary) {
  nlohmann::json json = suite_json(summary);
  json["header"] = to_json(header);
  json["problems"] = nlohmann::json::array();
  for (const SuiteRecord& record : records) {
    nlohmann::json one = to_json(record);
    one.erase("described");
    json["problems"].push_back(std::move(one));
  }
  return json;
}

// Prints what there is; `error`, if any, is why there is no more.
int report(const Options& options, const SuiteHeader& header,
           const std::vector<SuiteRecord>& records, const Status& status) {
  const bool with_candidates =
      !options.suite.candidates.empty() ||
      std::ranges::any_of(records, [](const SuiteRecord& r) { return r.candidate.has_value(); });
  const SuiteSummary summary = summarize_suite(records, with_candidates, options.accept_suspect);
  if (options.json) {
    nlohmann::json json = result_json(header, records, summary);
    if (!status) {
      json["error"] = error_json(status.error());
    }
    print_json(json);
  } else if (!records.empty()) {
    fmt::print("{}{}{}", header_text(header, records.size()),
               options.suite.verbose ? suite_listing(records) + "\n" : "", suite_text(summary));
  }
  if (!status) {
    print_error(status.error());
    return exit_code_of(status.error());
  }
  return exit_done;
}

int measure(const Options& options, std::stop_token stop) {
  const Result<Plan> plan = make_plan(options);
  if (!plan) {
    return report_error(options, plan.error());
  }
  const Result<fs::path> share = share_directory();
  if (!share) {
    return report_error(options, share.error());
  }
  const fs::path script = *share / "oracle" / "torch_oracle.py";
  SuiteJudge judge(options, script);
  const Result<Place> place = find_place(options, judge, script, stop);
  if (!place) {
    return report_error(options, place.error());
  }
  Result<SuiteFile> file = SuiteFile::open(options.suite.into, place->header);
  if (!file) {
    return report_error(options, file.error());
  }
  const Status status = Suite(options, *plan, *place, *file, judge).run(stop);
  return report(options, file->content().header, planned_records(file->content(), *plan), status);
}

int show(const Options& options) {
  const Result<SuiteContent> content = read_suite_file(options.suite.into);
  return content ? report(options, content->header, all_records(*content), {})
                 : report_error(options, content.error());
}

int compare(const Options& options) {
  const Result<SuiteContent> here = read_suite_file(options.suite.into);
  if (!here) {
    return report_error(options, here.error());
  }
  const Result<SuiteContent> there = read_suite_file(options.suite.against);
  if (!there) {
    return report_error(options, there.error());
  }
  const Result<SuiteComparison> comparison =
      compare_suites(all_records(*here), all_records(*there), options.accept_suspect);
  if (!comparison) {
    return report_error(options, comparison.error());
  }
  const std::vector<std::string> differ = header_differences(there->header, here->header);
  if (options.json) {
    nlohmann::json json = comparison_json(*comparison);
    json["differences"] = differ;
    print_json(json);
    return exit_done;
  }
  fmt::print("{}", comparison_text(*comparison, options.suite.into.string(),
                                   options.suite.against.string()));
  for (const std::string& difference : differ) {
    fmt::print("measured elsewhere: {}\n", difference);
  }
  return exit_done;
}

}  // namespace

int bench_kernelbench(const Options& options, std::stop_token stop) {
  if (!options.suite.against.empty()) {
    return compare(options);
  }
  return options.suite.checkout.empty() ? show(options) : measure(options, stop);
}

}  // namespace kernelpro
