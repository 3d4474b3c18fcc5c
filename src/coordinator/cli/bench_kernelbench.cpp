#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/date.hpp"
#include "common/base/paths.hpp"
#include "common/base/python.hpp"
#include "common/wire/suite_json.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/cli/suite_judge.hpp"
#include "coordinator/cli/suite_run.hpp"
#include "coordinator/cli/suite_search.hpp"
#include "coordinator/dispatch/bundle.hpp"
#include "coordinator/report/kernelbench_comparison.hpp"
#include "coordinator/report/kernelbench_table.hpp"
#include "coordinator/suite/checkout.hpp"
#include "coordinator/suite/suite_file.hpp"
#include "coordinator/suite/survey.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

struct Problems {
  std::vector<SuiteProblem> all;  // of the levels
  std::vector<SuiteProblem> chosen;
};

Result<Problems> find_problems(const SuiteOptions& suite) {
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
  Result<std::vector<SuiteProblem>> all = list_problems(suite.checkout, *levels);
  if (!all) {
    return all.error();
  }
  Result<std::vector<SuiteProblem>> chosen = choose_problems(*all, *numbers);
  if (!chosen) {
    return chosen.error();
  }
  return Problems{std::move(*all), std::move(*chosen)};
}

Result<SuitePlan> make_plan(const Options& options) {
  const SuiteOptions& suite = options.suite;
  const Result<Problems> problems = find_problems(suite);
  if (!problems) {
    return problems.error();
  }
  SuitePlan plan{problems->chosen, {}, {eager_mode, fp32_mode, tf32_mode}};
  if (suite.compile) {
    plan.modes.emplace_back(compile_mode);
  }
  if (!suite.candidates.empty()) {
    const char* const extension = options.run_settings.backend == "cuda" ? ".cu" : ".cpp";
    Result<std::map<ProblemId, fs::path>> found =
        find_candidates(suite.candidates, extension, problems->all);
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

Result<SuitePlace> find_place(const Options& options, SuiteJudge& judge, const fs::path& script,
                              std::stop_token stop) {
  const Result<Python> python = python_with_torch();
  if (!python) {
    return python.error();
  }
  if (options.suite.compile && python->torch.starts_with("1.")) {
    return make_error(ErrorKind::environment,
                      fmt::format("PyTorch {} has no torch.compile: leave out --compile, or set "
                                  "KERNELPRO_PYTHON to a Python with PyTorch 2",
                                  python->torch),
                      python->path);
  }
  const Result<WorkerDescription> worker = judge.describe(stop);
  if (!worker) {
    return worker.error();
  }
  const RunSettings& settings = options.run_settings;
  SuitePlace place;
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

std::vector<SuiteRecord> all_records(const SuiteContent& content) {
  std::vector<SuiteRecord> records;
  records.reserve(content.records.size());
  for (const auto& [problem, record] : content.records) {
    records.push_back(record);
  }
  return records;
}

std::vector<SuiteRecord> planned_records(const SuiteContent& content, const SuitePlan& plan) {
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
  const Result<SuitePlan> plan = make_plan(options);
  if (!plan) {
    return report_error(options, plan.error());
  }
  const Result<fs::path> share = share_directory();
  if (!share) {
    return report_error(options, share.error());
  }
  const fs::path script = *share / "oracle" / "torch_oracle.py";
  SuiteJudge judge(options, script);
  const Result<SuitePlace> place = find_place(options, judge, script, stop);
  if (!place) {
    return report_error(options, place.error());
  }
  Result<SuiteFile> file = SuiteFile::open(options.suite.into, place->header);
  if (!file) {
    return report_error(options, file.error());
  }
  const Status status = run_suite(options, *plan, *place, judge, *file, stop);
  return report(options, file->content().header, planned_records(file->content(), *plan), status);
}

// Models write candidates first; what is not finished waits, and is not measured yet.
int search_and_measure(const Options& options, std::stop_token stop) {
  const Result<Problems> problems = find_problems(options.suite);
  const Result<fs::path> share = share_directory();
  if (!problems || !share) {
    return report_error(options, problems ? share.error() : problems.error());
  }
  const Result<std::vector<ProblemSearch>> searches =
      search_suite(options, problems->chosen, *share / "oracle" / "torch_oracle.py", stop);
  if (!searches) {
    return report_error(options, searches.error());
  }
  fmt::print(stderr, "{}", searches_text(*searches));
  const bool for_models = std::ranges::any_of(
      *searches, [](const ProblemSearch& one) { return one.awaited.answers > 0; });
  const bool for_results = std::ranges::any_of(
      *searches, [](const ProblemSearch& one) { return one.awaited.results > 0; });
  if (for_models) {
    LlmSettings settings;
    for (const auto& change : options.llm) {
      change(settings);
    }
    print_waiting_for_models(settings, "this command again");
  }
  if (for_results) {
    print_waiting(options.run_settings, "this command again; each task has its own such file");
  }
  if (for_models || for_results) {
    return exit_waiting;
  }
  if (std::ranges::all_of(*searches, &ProblemSearch::failed)) {
    return exit_environment;
  }
  return bundle_file(options.run_settings.workers) ? exit_done : measure(options, stop);
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
  if (options.suite.checkout.empty()) {
    return show(options);
  }
  return options.llm.empty() ? measure(options, stop) : search_and_measure(options, stop);
}

}  // namespace kernelpro
