#include "coordinator/app/bundle_laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/orders_json.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/dispatch/answer.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t describe_id = 1;
constexpr std::int64_t open_id = 2;
constexpr std::int64_t first_job_id = 3;

// More than twice the nodes of any run: the ids of a final phase lie above those of the one before.
constexpr std::int64_t phase_stride = 1'000'000'000;

// The same for the same job, whenever it is asked for.
std::int64_t id_of(const Job& job) {
  const std::int64_t later = std::max<std::int64_t>(job.phase - 1, 0);
  return first_job_id + later * phase_stride + 2 * job.node + (job.phase > 0 ? 1 : 0);
}

// A finalist of which a recording knows nothing: the run was recorded with fewer of them.
Evaluated not_recorded(const Job& job) {
  Evaluated out;
  out.certificate.candidate = job.candidate;
  out.certificate.verdict.outcome = Outcome::not_judged;
  out.certificate.verdict.summary = "the recording has no such measurement";
  return out;
}

std::string request_name(std::int64_t id) {
  if (id < first_job_id) {
    return id == describe_id ? "describing the worker" : "opening the task";
  }
  const std::int64_t job = (id - first_job_id) % phase_stride;
  return fmt::format("{} node {}", job % 2 == 0 ? "judging" : "confirming", job / 2);
}

}  // namespace

Result<std::optional<WorkerDescription>> BundleLaboratory::worker() const {
  const nlohmann::json* described = bundle_.result(describe_id);
  const nlohmann::json* opened = bundle_.result(open_id);
  if (described == nullptr || opened == nullptr) {
    return std::optional<WorkerDescription>();
  }
  const Result<Opened> task = opened_from_json(*opened);
  const Status fits = task ? check_answer(order_, *task) : Status(task.error());
  if (!task || (!fits && !bundle_.is_recorded())) {
    return bundle_.refused(open_id, fits.error());
  }
  KP_TRY(refuse_unfit(*task, order_.task));
  Result<WorkerDescription> description = description_from_json(*described);
  if (!description) {
    return bundle_.refused(describe_id, description.error());
  }
  return std::optional(std::move(*description));
}

Result<std::vector<BuildSummary>> BundleLaboratory::build(const std::vector<Candidate>& candidates,
                                                          std::stop_token /*stop*/) {
  return std::vector<BuildSummary>(candidates.size());
}

Result<std::optional<Evaluated>> BundleLaboratory::judge(const Job& job, std::stop_token /*stop*/) {
  std::int64_t id = id_of(job);
  const nlohmann::json* result = bundle_.result(id);
  if (result == nullptr && bundle_.is_recorded() && job.phase > 0) {
    // A run may be recorded up to another phase than it is replayed to.
    Job first = job;
    first.phase = 1;
    id = id_of(first);
    result = bundle_.result(id);
    if (result == nullptr) {
      return std::optional(not_recorded(job));
    }
  }
  // Without knowing the worker nothing new can be proposed, so its other answers wait with that.
  if (result == nullptr || bundle_.result(describe_id) == nullptr ||
      bundle_.result(open_id) == nullptr) {
    open_jobs_.push_back(job);
    return std::optional<Evaluated>();
  }
  Result<Evaluated> evaluated = evaluated_from_json(*result);
  if (!evaluated) {
    return bundle_.refused(id, evaluated.error());
  }
  if (bundle_.is_recorded() && evaluated->certificate.candidate.source != job.candidate.source) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("the recorded result of node {} is of another source: the run "
                                  "goes another way than the recorded one",
                                  job.node));
  }
  if (!bundle_.is_recorded()) {
    if (const Status fits = check_fits(id, job, *evaluated); !fits) {
      return bundle_.refused(id, fits.error());
    }
  }
  return std::optional(std::move(*evaluated));
}

// Its incumbent is the one of the day when the job was handed out.
Status BundleLaboratory::check_fits(std::int64_t id, const Job& job,
                                    const Evaluated& answer) const {
  EvaluateOrder asked = evaluate_order(job, allow_precision_);
  asked.incumbent.reset();
  if (const nlohmann::json* request = bundle_.answered_request(id); request != nullptr) {
    KP_LET(const EvaluateOrder then, evaluate_order_from_json(*request));
    asked.incumbent = then.incumbent;
  }
  return check_answer(order_, asked, answer);
}

std::vector<Bundle::Request> BundleLaboratory::requests() const {
  const auto body = [](nlohmann::json json) {
    return std::make_shared<const nlohmann::json>(std::move(json));
  };
  std::vector<Bundle::Request> requests = {
      {describe_id, WorkerOp::describe, body(nlohmann::json::object())},
      {open_id, WorkerOp::open, body(to_json(order_))}};
  for (const Job& job : open_jobs_) {
    requests.push_back(
        {id_of(job), WorkerOp::evaluate, body(to_json(evaluate_order(job, allow_precision_)))});
  }
  return requests;
}

Status BundleLaboratory::hand_out() {
  const bool known = bundle_.result(describe_id) != nullptr && bundle_.result(open_id) != nullptr;
  if (open_jobs_.empty() && known) {
    return {};
  }
  const std::vector<Bundle::Request> wanted = requests();
  const bool asked =
      std::all_of(wanted.begin(), wanted.end(),
                  [this](const Bundle::Request& request) { return bundle_.asks(request.id); });
  return asked ? Status() : bundle_.write(wanted);
}

std::vector<std::string> BundleLaboratory::remarks() const {
  std::vector<std::string> remarks;
  if (!bundle_.missing_because().empty()) {
    remarks.push_back(bundle_.missing_because());
  }
  for (const auto& [id, error] : bundle_.failures()) {
    remarks.push_back(
        fmt::format("{} failed there and will be tried again: {}", request_name(id), error.text()));
  }
  return remarks;
}

}  // namespace kernelpro
