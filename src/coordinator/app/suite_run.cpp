#include "coordinator/app/suite_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/date.hpp"
#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/machine_lock.hpp"
#include "coordinator/suite/survey.hpp"

namespace kernelpro {
namespace {

constexpr int survey_rounds = 10;

// Goes through the problems and puts what is measured into the file.
class SuiteRun {
 public:
  SuiteRun(const SuiteRequest& request, const SuitePlan& plan, const SuitePlace& place,
           SuiteFile& file, SuiteJudge& judge, const Watcher& watcher)
      : request_(request),
        plan_(plan),
        place_(place),
        file_(file),
        judge_(judge),
        watcher_(watcher),
        survey_(place.survey, static_cast<std::int64_t>(request.limit_seconds * 1000)) {}

  [[nodiscard]] Status run(std::stop_token stop) {
    std::size_t done = 0;
    for (const SuiteProblem& problem : plan_.problems) {
      const std::string label =
          fmt::format("kernelbench {}/{} {} {}", ++done, plan_.problems.size(), text_of(problem.id),
                      problem.name);
      Status status = one(problem, label, stop);
      if (status) {
        continue;
      }
      if (status.error().kind != ErrorKind::interrupted) {
        return status;
      }
      return make_error(
          ErrorKind::interrupted,
          fmt::format("interrupted; {} of {} problems are done, the same command goes on", done - 1,
                      plan_.problems.size()));
    }
    return {};
  }

 private:
  [[nodiscard]] Status one(const SuiteProblem& problem, const std::string& label,
                           std::stop_token stop) {
    KP_LET(const std::string text, read_file(problem.file));
    const auto found = file_.content().records.find(problem.id);
    SuiteRecord record = found != file_.content().records.end() ? found->second : SuiteRecord();
    bool changed = false;
    if (const std::string hash = sha256(text); record.problem_hash != hash) {
      record = SuiteRecord();
      record.problem = problem.id;
      record.name = problem.name;
      record.problem_hash = hash;
      changed = true;
    }
    if (changed || needs_survey(record)) {
      tell(watcher_, Activity{label + ": PyTorch's times"});
      KP_TRY(survey(problem, record, stop));
      changed = true;
    }
    KP_LET(const bool judged, with_candidate(problem, record, label, stop));
    if (!changed && !judged) {
      return {};
    }
    record.date = utc_now();
    return file_.append(record);
  }

  [[nodiscard]] bool needs_survey(const SuiteRecord& record) const {
    if (!record.failed.empty()) {
      return request_.retry;
    }
    return std::ranges::any_of(plan_.modes, [&](const std::string& mode) {
      return !record.times.contains(mode) && !record.untimed.contains(mode);
    });
  }

  // Asks PyTorch alone on the device.
  [[nodiscard]] Result<SurveyAnswer> ask(const SuiteProblem& problem, std::stop_token stop) {
    KP_LET(const MachineLock lock,
           MachineLock::acquire(place_.lock, LockMode::timing, machine_lock_timeout_ms(), stop));
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
    if (traits_of(request_.search.settings.judging.backend).gpu && answer->device == "cpu") {
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
                                            const std::string& label, std::stop_token stop) {
    if (request_.candidates.empty()) {
      return false;
    }
    const auto source = plan_.candidates.find(problem.id);
    if (source == plan_.candidates.end()) {
      const bool had_one = record.candidate.has_value();
      record.candidate.reset();
      return had_one;
    }
    KP_LET(const std::string text, read_file(source->second));
    const std::string hash = sha256(text);
    if (!needs_judging(record, hash)) {
      return false;
    }
    tell(watcher_, Activity{label + ": opening"});
    const auto show = [&](const WorkerEvent& event) {
      tell(watcher_, Activity{label + ": " + event.text});
    };
    KP_TRY(judge_.judge(problem, source->second, hash, record, show, stop));
    return true;
  }

  [[nodiscard]] bool needs_judging(const SuiteRecord& record, const std::string& hash) const {
    return !record.candidate || record.candidate->source_hash != hash ||
           record.candidate->allow_precision != request_.search.settings.allow_precision ||
           (request_.retry && record.candidate->outcome == Outcome::not_judged);
  }

  const SuiteRequest& request_;
  const SuitePlan& plan_;
  const SuitePlace& place_;
  SuiteFile& file_;
  SuiteJudge& judge_;
  const Watcher& watcher_;
  Survey survey_;
};

}  // namespace

Status run_suite(const SuiteRequest& request, const SuitePlan& plan, const SuitePlace& place,
                 SuiteJudge& judge, SuiteFile& file, const Watcher& watcher, std::stop_token stop) {
  return SuiteRun(request, plan, place, file, judge, watcher).run(stop);
}

}  // namespace kernelpro
