#include "coordinator/app/evaluate.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/worker_line.hpp"
#include "coordinator/app/header_folders.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/app/worker_laboratory.hpp"
#include "coordinator/dispatch/answer.hpp"
#include "coordinator/dispatch/bundle.hpp"
#include "coordinator/dispatch/worker_client.hpp"

namespace kernelpro {

namespace {

Result<Candidate> loaded_candidate(const std::string& file, const EvaluationRequest& request,
                                   const Task& task) {
  const auto load = request.foreign ? load_foreign : load_candidate;
  return load(file, task, request.judging.backend, request.build);
}

Result<EvaluateOrder> evaluate_order(const std::string& source, const EvaluationRequest& request,
                                     const Task& task) {
  EvaluateOrder order;
  order.allow_precision = request.allow_precision;
  order.timed = request.timed;
  order.energy = request.energy;
  if (is_implementation(task, source)) {
    order.implementation = source;
    return order;
  }
  Result<Candidate> candidate = loaded_candidate(source, request, task);
  if (!candidate) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("{}; expected a C++ file, or one of the task's own: {}",
                                  candidate.error().message, implementation_names(task)));
  }
  order.candidate = std::move(*candidate);
  return order;
}

// What to evaluate, in the user's order: files, or the task's own implementations by name.
Result<std::vector<EvaluateOrder>> evaluate_orders(const EvaluationRequest& request,
                                                   const Task& task) {
  std::optional<Candidate> incumbent;
  if (!request.incumbent.empty()) {
    Result<Candidate> loaded = loaded_candidate(request.incumbent, request, task);
    if (!loaded) {
      return make_error(ErrorKind::bad_input, loaded.error().message, "--incumbent");
    }
    incumbent = std::move(*loaded);
  }
  std::vector<EvaluateOrder> orders;
  for (const std::string& source : request.sources) {
    KP_LET(EvaluateOrder order, evaluate_order(source, request, task));
    order.incumbent = incumbent;
    orders.push_back(std::move(order));
  }
  return orders;
}

// Writes certificates into one folder, each under a name of its own.
class CertificateWriter {
 public:
  explicit CertificateWriter(std::filesystem::path directory) : directory_(std::move(directory)) {}

  [[nodiscard]] Status make_directory() const {
    return directory_.empty() ? Status() : make_directories(directory_);
  }

  [[nodiscard]] Status write(const Certificate& certificate) {
    if (directory_.empty()) {
      return {};
    }
    const std::string stem = certificate.task.name + "-" + certificate.candidate.name;
    std::string name = stem;
    for (int number = 2; !written_.insert(name).second; ++number) {
      name = stem + "-" + std::to_string(number);
    }
    return write_file_atomic(directory_ / (name + ".certificate.json"),
                             to_json(certificate).dump(2) + "\n");
  }

 private:
  std::filesystem::path directory_;
  std::set<std::string> written_;
};

// Judges one order after the other, from the first without a result. What was judged is kept
// whatever happens to the rest.
void judge_all(WorkerClient& worker, const std::vector<EvaluateOrder>& orders,
               CertificateWriter& certificates, const std::string& task_name,
               const Watcher& watcher, EvaluationResult& out, std::stop_token stop) {
  while (out.evaluations.size() < orders.size()) {
    const EvaluateOrder& order = orders[out.evaluations.size()];
    const std::string name = order.candidate ? order.candidate->name : order.implementation;
    worker.on_event([&](const WorkerEvent& event) {
      tell(watcher, Activity{fmt::format("{} {}/{} {}: {}", task_name, out.evaluations.size() + 1,
                                         orders.size(), name, event.text)});
    });
    Result<Evaluated> evaluated = worker.evaluate(order, stop);
    if (!evaluated) {
      out.error = evaluated.error();
      if (out.error->kind == ErrorKind::interrupted) {
        out.error->message = fmt::format("interrupted; {} of {} candidates were judged",
                                         out.evaluations.size(), orders.size());
      }
      break;
    }
    if (const Status written = certificates.write(evaluated->certificate); !written && !out.error) {
      out.error = written.error();
    }
    out.evaluations.push_back(std::move(*evaluated));
  }
  worker.on_event({});
}

// Builds every candidate before the first is judged; one alone is built when it is.
std::optional<Error> build_ahead(WorkerClient& worker, const std::vector<EvaluateOrder>& orders,
                                 const std::string& task_name, const Watcher& watcher,
                                 std::stop_token stop) {
  std::vector<Candidate> candidates;
  for (const EvaluateOrder& order : orders) {
    if (order.candidate) {
      candidates.push_back(*order.candidate);
    }
  }
  if (candidates.size() < 2) {
    return std::nullopt;
  }
  tell(watcher, Activity{task_name + ": building"});
  const Result<std::vector<BuildSummary>> built = worker.build(candidates, stop);
  return built ? std::nullopt : std::optional(built.error());
}

Status keep_certificates(const std::filesystem::path& directory,
                         const std::vector<Evaluated>& evaluations) {
  CertificateWriter certificates(directory);
  KP_TRY(certificates.make_directory());
  for (const Evaluated& evaluated : evaluations) {
    KP_TRY(certificates.write(evaluated.certificate));
  }
  return {};
}

Result<OpenOrder> opening_of(const EvaluationRequest& request, const Task& task) {
  return with_headers({.task = task,
                       .judging = judging_at(request.workers.places.front(), request.judging),
                       .timed = request.timed,
                       .energy = request.energy});
}

// One worker, until it has judged all. Whether another should go on: its cluster took it away, or
// one that was kept had died.
Result<bool> judge_by_one(const EvaluationRequest& request, const OpenOrder& opening,
                          const std::vector<EvaluateOrder>& orders, CertificateWriter& certificates,
                          KeptWorker& kept, const Watcher& watcher, EvaluationResult& out,
                          std::stop_token stop) {
  const std::string& task = opening.task.name;
  const WorkerPlace& place = request.workers.places.front();
  if (place.slurm) {
    tell(watcher, Activity{task + ": waiting for a node of the cluster"});
  }
  KP_LET(WorkerClient * worker, kept.start(stop));
  const bool opens = !kept.has_open(opening);
  const bool watched =
      opens && request.timed && place.here() && !traits_of(request.judging.backend).gpu;
  // The task is opened meanwhile: what we do ourselves does not count.
  const std::optional<MachineWatch> watch =
      watched ? std::optional<MachineWatch>(std::in_place) : std::nullopt;
  if (opens) {
    tell(watcher, Activity{task + ": opening (reference, baseline, ceilings, noise floor)"});
  }
  KP_LET(worker, kept.open(opening, stop));
  if (watch) {
    out.load = watch->look();
    tell(watcher, *out.load);
  }
  out.error = build_ahead(*worker, orders, task, watcher, stop);
  if (!out.error) {
    judge_all(*worker, orders, certificates, task, watcher, out, stop);
  }
  if (!out.error) {
    return false;
  }
  const bool died_idle = !opens && out.evaluations.empty() && out.error->kind == ErrorKind::lost;
  const bool taken_away = worker->was_taken_away();
  kept.let_go(*out.error);
  return taken_away || died_idle;
}

Result<EvaluationResult> judge_here(const EvaluationRequest& request, const Task& task,
                                    const std::vector<EvaluateOrder>& orders,
                                    const Watcher& watcher, std::stop_token stop) {
  constexpr int most_taken_away = 5;
  CertificateWriter certificates(request.certificates);
  KP_TRY(certificates.make_directory());
  KP_LET(const OpenOrder opening, opening_of(request, task));
  EvaluationResult out;
  KeptWorker own(request.workers.places.front());
  KeptWorker& kept = request.kept != nullptr ? *request.kept : own;
  bool more = true;
  for (int taken_away = 0; more && taken_away <= most_taken_away; ++taken_away) {
    out.error.reset();
    KP_LET(more, judge_by_one(request, opening, orders, certificates, kept, watcher, out, stop));
  }
  return out;
}

// The id of the first request of a bundle; those of the evaluations follow.
constexpr std::int64_t opening_id = 1;

std::vector<Bundle::Request> bundle_requests(const OpenOrder& open,
                                             const std::vector<EvaluateOrder>& orders) {
  const auto body = [](nlohmann::json json) {
    return std::make_shared<const nlohmann::json>(std::move(json));
  };
  std::vector<Bundle::Request> requests = {{opening_id, WorkerOp::open, body(to_json(open))}};
  for (const EvaluateOrder& order : orders) {
    requests.push_back({std::ssize(requests) + 1, WorkerOp::evaluate, body(to_json(order))});
  }
  return requests;
}

// What came back for these requests, in their order; fewer than were asked for when some are still
// awaited.
Result<std::vector<Evaluated>> bundle_results(const Bundle& bundle, const OpenOrder& open,
                                              const std::vector<EvaluateOrder>& orders) {
  if (const nlohmann::json* result = bundle.result(opening_id); result != nullptr) {
    const Result<Opened> opened = opened_from_json(*result);
    if (const Status fits = opened ? check_answer(open, *opened) : Status(opened.error()); !fits) {
      return bundle.refused(opening_id, fits.error());
    }
    KP_TRY(refuse_unfit(*opened, open.task));
  }
  std::vector<Evaluated> evaluations;
  std::int64_t id = opening_id;
  for (const EvaluateOrder& order : orders) {
    const nlohmann::json* result = bundle.result(++id);
    if (result == nullptr) {
      continue;
    }
    Result<Evaluated> evaluated = evaluated_from_json(*result);
    const Status fits =
        evaluated ? check_answer(open, order, *evaluated) : Status(evaluated.error());
    if (!fits) {
      return bundle.refused(id, fits.error());
    }
    evaluations.push_back(std::move(*evaluated));
  }
  return evaluations;
}

// The first call writes the bundle; the same call again finds its results. Other candidates or
// settings are another owner, so that they never take these results for theirs.
Result<EvaluationResult> judge_by_bundle(const EvaluationRequest& request, const Task& task,
                                         const std::vector<EvaluateOrder>& orders,
                                         const Watcher& watcher) {
  KP_LET(const OpenOrder open, opening_of(request, task));
  const std::vector<Bundle::Request> requests = bundle_requests(open, orders);
  std::string all;
  for (const Bundle::Request& one : requests) {
    all += one.body->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  KP_LET(Bundle bundle, Bundle::open(request.workers.file, "evaluation " + sha256(all)));
  KP_LET(std::vector<Evaluated> evaluations, bundle_results(bundle, open, orders));
  EvaluationResult out;
  if (evaluations.size() == orders.size()) {
    out.evaluations = std::move(evaluations);
    if (const Status kept = keep_certificates(request.certificates, out.evaluations); !kept) {
      out.error = kept.error();
    }
    return out;
  }
  for (const auto& [id, error] : bundle.failures()) {
    tell(watcher, Remark{Remark::On::program,
                         fmt::format("request {} failed there and will be tried again: {}", id,
                                     error.text())});
  }
  if (!bundle.asks(requests.front().id)) {
    KP_TRY(bundle.write(requests));
  }
  out.waiting = true;
  return out;
}

}  // namespace

Result<EvaluationResult> evaluate(const EvaluationRequest& request, const Watcher& watcher,
                                  std::stop_token stop) {
  KP_LET(const Task task, load_named_task(request.task));
  KP_LET(const std::vector<EvaluateOrder> orders, evaluate_orders(request, task));
  if (request.workers.scheme == WorkerScheme::bundle) {
    return judge_by_bundle(request, task, orders, watcher);
  }
  if (request.workers.scheme != WorkerScheme::live || request.workers.places.size() != 1) {
    return make_error(ErrorKind::bad_input,
                      "an evaluation is done by one worker: local, local:DEVICE, cmd:COMMAND, "
                      "slurm:partition=P or bundle:FILE",
                      "--workers");
  }
  KP_TRY(check_places(request.workers.places, request.judging));
  return judge_here(request, task, orders, watcher, stop);
}

nlohmann::json to_json(const EvaluationResult& evaluation) {
  nlohmann::json list = nlohmann::json::array();
  for (const Evaluated& evaluated : evaluation.evaluations) {
    list.push_back(to_json(evaluated));
  }
  nlohmann::json json = {{"evaluations", list}};
  if (evaluation.load) {
    json["machine_load"] = to_json(*evaluation.load);
  }
  if (evaluation.error) {
    json["error"] = to_json(*evaluation.error);
  }
  return json;
}

}  // namespace kernelpro
