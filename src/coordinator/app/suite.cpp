#include "coordinator/app/suite.hpp"

#include <fmt/format.h>

#include "common/base/date.hpp"
#include "common/base/python.hpp"
#include "coordinator/app/suite_judge.hpp"
#include "coordinator/app/suite_plan.hpp"
#include "coordinator/app/suite_run.hpp"
#include "coordinator/app/tasks.hpp"
#include "coordinator/suite/survey.hpp"

namespace kernelpro {
Result<SuiteProblems> find_problems(const SuiteRequest& request) {
  const Result<std::vector<int>> levels = parse_numbers(request.levels, "--levels");
  if (!levels) {
    return levels.error();
  }
  Result<std::vector<int>> numbers = std::vector<int>();
  if (!request.problems.empty()) {
    numbers = parse_numbers(request.problems, "--problems");
  }
  if (!numbers) {
    return numbers.error();
  }
  Result<std::vector<SuiteProblem>> all = list_problems(request.checkout, *levels);
  if (!all) {
    return all.error();
  }
  Result<std::vector<SuiteProblem>> chosen = choose_problems(*all, *numbers);
  if (!chosen) {
    return chosen.error();
  }
  return SuiteProblems{std::move(*all), std::move(*chosen)};
}

namespace {

namespace fs = std::filesystem;

Result<SuitePlan> make_plan(const SuiteRequest& request) {
  const Result<SuiteProblems> problems = find_problems(request);
  if (!problems) {
    return problems.error();
  }
  SuitePlan plan{problems->chosen, {}, {eager_mode, fp32_mode, tf32_mode}};
  if (request.compile) {
    plan.modes.emplace_back(compile_mode);
  }
  if (!request.candidates.empty()) {
    const std::string extension(traits_of(request.search.settings.judging.backend).extension);
    Result<std::map<ProblemId, fs::path>> found =
        find_candidates(request.candidates, extension, problems->all);
    if (!found) {
      return found.error();
    }
    plan.candidates = std::move(*found);
  }
  return plan;
}

// What of the settings changes times.
std::string conditions(const JudgingSettings& judging) {
  std::vector<std::string> parts;
  if (judging.threads > 0) {
    parts.push_back(fmt::format("threads {}", judging.threads));
  }
  if (judging.warm) {
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

Result<SuitePlace> find_place(const SuiteRequest& request, SuiteJudge& judge,
                              const fs::path& script, std::stop_token stop) {
  const Result<Python> python = python_with_torch();
  if (!python) {
    return python.error();
  }
  if (request.compile && python->torch.starts_with("1.")) {
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
  const JudgingSettings& judging = request.search.settings.judging;
  SuitePlace place;
  place.lock = "cpu";
  place.header.machine = worker->machine.processor;
  if (traits_of(judging.backend).gpu) {
    const Result<const GpuRecord*> gpu = chosen_gpu(*worker, judging.device);
    if (!gpu) {
      return gpu.error();
    }
    place.lock = (*gpu)->uuid;
    place.header.machine = (*gpu)->name;
  }
  place.header.program_version = worker->version;
  place.header.date = utc_now();
  place.header.backend = judging.backend;
  place.header.torch = python->torch;
  place.header.kernelbench = checkout_commit(request.checkout);
  place.header.conditions = conditions(judging);
  place.survey.arguments = {python->path, script.string(), "survey"};
  place.survey.inherit_environment = true;
  place.survey.environment = survey_environment(judging.backend, judging.device);
  return place;
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

}  // namespace

Result<SuiteResult> measure_suite(const SuiteRequest& request, const Watcher& watcher,
                                  std::stop_token stop) {
  const Result<SuitePlan> plan = make_plan(request);
  const Result<fs::path> script = plan ? torch_oracle_script() : Result<fs::path>(plan.error());
  if (!script) {
    return script.error();
  }
  SuiteJudge judge(request, *script);
  const Result<SuitePlace> place = find_place(request, judge, *script, stop);
  if (!place) {
    return place.error();
  }
  Result<SuiteFile> file = SuiteFile::open(request.into, place->header);
  if (!file) {
    return file.error();
  }
  const Status status = run_suite(request, *plan, *place, judge, *file, watcher, stop);
  SuiteResult out{file->content().header, planned_records(file->content(), *plan), {}};
  if (!status) {
    out.error = status.error();
  }
  return out;
}

Result<SuiteResult> read_suite(const fs::path& file) {
  const Result<SuiteContent> content = read_suite_file(file);
  if (!content) {
    return content.error();
  }
  SuiteResult out{content->header, {}, {}};
  out.records.reserve(content->records.size());
  for (const auto& [problem, record] : content->records) {
    out.records.push_back(record);
  }
  return out;
}

}  // namespace kernelpro
