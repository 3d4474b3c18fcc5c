#include "coordinator/app/suite.hpp"

#include <fmt/format.h>

#include "common/base/checkout.hpp"
#include "common/base/date.hpp"
#include "common/base/python.hpp"
#include "coordinator/app/suite_judge.hpp"
#include "coordinator/app/suite_plan.hpp"
#include "coordinator/app/suite_run.hpp"
#include "coordinator/app/tasks.hpp"
#include "coordinator/suite/survey.hpp"

namespace kernelpro {
Result<SuiteProblems> find_problems(const SuiteRequest& request) {
  KP_LET(const std::vector<int> levels, parse_numbers(request.levels, "--levels"));
  Result<std::vector<int>> numbers = std::vector<int>();
  if (!request.problems.empty()) {
    numbers = parse_numbers(request.problems, "--problems");
  }
  if (!numbers) {
    return numbers.error();
  }
  KP_LET(std::vector<SuiteProblem> all, list_problems(request.checkout, levels));
  KP_LET(std::vector<SuiteProblem> chosen, choose_problems(all, *numbers));
  return SuiteProblems{std::move(all), std::move(chosen)};
}

namespace {

namespace fs = std::filesystem;

Result<SuitePlan> make_plan(const SuiteRequest& request) {
  KP_LET(const SuiteProblems problems, find_problems(request));
  SuitePlan plan{problems.chosen, {}, {eager_mode, fp32_mode, tf32_mode}};
  if (request.compile) {
    plan.modes.emplace_back(compile_mode);
  }
  if (!request.candidates.empty()) {
    const std::string extension(traits_of(request.search.settings.judging.backend).extension);
    KP_LET(plan.candidates, find_candidates(request.candidates, extension, problems.all));
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
  KP_LET(const Python python, python_with_torch());
  if (request.compile && python.torch.starts_with("1.")) {
    return make_error(ErrorKind::environment,
                      fmt::format("PyTorch {} has no torch.compile: leave out --compile, or set "
                                  "KERNELPRO_PYTHON to a Python with PyTorch 2",
                                  python.torch),
                      python.path);
  }
  KP_LET(const WorkerDescription worker, judge.describe(stop));
  const JudgingSettings& judging = request.search.settings.judging;
  SuitePlace place;
  place.lock = "cpu";
  place.header.machine = worker.machine.processor;
  if (traits_of(judging.backend).gpu) {
    KP_LET(const GpuRecord* gpu, chosen_gpu(worker, judging.device));
    place.lock = gpu->uuid;
    place.header.machine = gpu->name;
  }
  place.header.program_version = worker.version;
  place.header.date = utc_now();
  place.header.backend = judging.backend;
  place.header.torch = python.torch;
  place.header.kernelbench = checkout_commit(request.checkout);
  place.header.conditions = conditions(judging);
  place.survey.arguments = {python.path, script.string(), "survey"};
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
  KP_LET(const SuitePlan plan, make_plan(request));
  KP_LET(const fs::path script, torch_oracle_script());
  SuiteJudge judge(request, script);
  KP_LET(const SuitePlace place, find_place(request, judge, script, stop));
  KP_LET(SuiteFile file, SuiteFile::open(request.into, place.header));
  const Status status = run_suite(request, plan, place, judge, file, watcher, stop);
  SuiteResult out{file.content().header, planned_records(file.content(), plan), {}};
  if (!status) {
    out.error = status.error();
  }
  return out;
}

Result<SuiteResult> read_suite(const fs::path& file) {
  KP_LET(const SuiteContent content, read_suite_file(file));
  SuiteResult out{content.header, {}, {}};
  out.records.reserve(content.records.size());
  for (const auto& [problem, record] : content.records) {
    out.records.push_back(record);
  }
  return out;
}

}  // namespace kernelpro
