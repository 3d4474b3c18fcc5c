#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/cli/candidate_file.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/opening.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/progress.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/dispatch/answer.hpp"
#include "coordinator/dispatch/bundle.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

namespace {

Result<EvaluateOrder> evaluate_order(const std::string& source, const Options& options,
                                     const Task& task) {
  EvaluateOrder order;
  order.allow_precision = options.allow_precision;
  order.timed = options.timed;
  order.energy = options.energy;
  if (is_implementation(task, source)) {
    order.implementation = source;
    return order;
  }
  Result<Candidate> candidate = load_candidate(source, options, task);
  if (!candidate) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("{}; expected a C++ file, or one of the task's own: {}",
                                  candidate.error().message, implementation_names(task)));
  }
  order.candidate = std::move(*candidate);
  return order;
}

// What to evaluate, in the user's order: files, or the task's own implementations by name.
Result<std::vector<EvaluateOrder>> evaluate_orders(const Options& options, const Task& task) {
  std::optional<Candidate> incumbent;
  if (!options.incumbent.empty()) {
    Result<Candidate> loaded = load_candidate(options.incumbent, options, task);
    if (!loaded) {
      return make_error(ErrorKind::bad_input, loaded.error().message, "--incumbent");
    }
    incumbent = std::move(*loaded);
  }
  std::vector<EvaluateOrder> orders;
  for (const std::string& source : options.sources) {
    Result<EvaluateOrder> order = evaluate_order(source, options, task);
    if (!order) {
      return order.error();
    }
    order->incumbent = incumbent;
    orders.push_back(std::move(*order));
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

// What was judged, and what went wrong beside it.
struct Harvest {
  std::vector<Evaluated> evaluations;
  std::optional<Error> error;
  std::optional<MachineLoad> load;  // of this machine, before
};

// Judges one order after the other. What was judged is kept whatever happens to the rest.
Harvest judge_all(WorkerClient& worker, const std::vector<EvaluateOrder>& orders,
                  CertificateWriter& certificates, const std::string& task_name,
                  ProgressLine& progress, std::stop_token stop) {
  Harvest harvest;
  for (const EvaluateOrder& order : orders) {
    const std::string name = order.candidate ? order.candidate->name : order.implementation;
    worker.on_event([&](const WorkerEvent& event) {
      progress.show(fmt::format("{} {}/{} {}: {}", task_name, harvest.evaluations.size() + 1,
                                orders.size(), name, event.text));
    });
    Result<Evaluated> evaluated = worker.evaluate(order, stop);
    if (!evaluated) {
      harvest.error = evaluated.error();
      if (harvest.error->kind == ErrorKind::interrupted) {
        harvest.error->message = fmt::format("interrupted; {} of {} candidates were judged",
                                             harvest.evaluations.size(), orders.size());
      }
      break;
    }
    if (const Status written = certificates.write(evaluated->certificate);
        !written && !harvest.error) {
      harvest.error = written.error();
    }
    harvest.evaluations.push_back(std::move(*evaluated));
  }
  return harvest;
}

nlohmann::json harvest_json(const Harvest& harvest) {
  nlohmann::json list = nlohmann::json::array();
  for (const Evaluated& evaluated : harvest.evaluations) {
    list.push_back(to_json(evaluated));
  }
  nlohmann::json json = {{"evaluations", list}};
  if (harvest.load) {
    json["machine_load"] = to_json(*harvest.load);
  }
  if (harvest.error) {
    json["error"] = error_json(*harvest.error);
  }
  return json;
}

void print_harvest(const Options& options, const Harvest& harvest) {
  if (options.json) {
    print_json(harvest_json(harvest));
  } else if (options.sources.size() == 1 && !harvest.evaluations.empty()) {
    fmt::print("{}", evaluation_text(harvest.evaluations.front()));
  } else if (!harvest.evaluations.empty()) {
    fmt::print("{}", verdict_table(harvest.evaluations));
  }
  if (harvest.error) {
    print_error(*harvest.error);
  }
}

int judged_exit_code(const Options& options, const Harvest& harvest) {
  if (harvest.error) {
    return exit_code_of(*harvest.error);
  }
  const std::vector<Evaluated>& evaluations = harvest.evaluations;
  const auto ended = [](Outcome outcome) {
    return [outcome](const Evaluated& evaluated) {
      return evaluated.certificate.verdict.outcome == outcome;
    };
  };
  if (std::any_of(evaluations.begin(), evaluations.end(), ended(Outcome::not_judged))) {
    return exit_environment;
  }
  const bool all_passed =
      std::all_of(evaluations.begin(), evaluations.end(), ended(Outcome::passed));
  const bool faster =
      evaluations.back().certificate.verdict.timing.comparison == Comparison::faster;
  return all_passed && (faster || !options.timed) ? exit_done : exit_not_passed;
}

// Builds every candidate before the first is judged.
Status build_ahead(WorkerClient& worker, const std::vector<EvaluateOrder>& orders,
                   std::stop_token stop) {
  std::vector<Candidate> candidates;
  for (const EvaluateOrder& order : orders) {
    if (order.candidate) {
      candidates.push_back(*order.candidate);
    }
  }
  const Result<std::vector<BuildSummary>> built = worker.build(candidates, stop);
  return built ? Status() : Status(built.error());
}

Status keep_certificates(const Options& options, const std::vector<Evaluated>& evaluations) {
  CertificateWriter certificates(options.certificate_directory);
  KP_TRY(certificates.make_directory());
  for (const Evaluated& evaluated : evaluations) {
    KP_TRY(certificates.write(evaluated.certificate));
  }
  return {};
}

int judge_here(const Options& options, const Task& task, const std::vector<EvaluateOrder>& orders,
               std::stop_token stop) {
  CertificateWriter certificates(options.certificate_directory);
  if (const Status made = certificates.make_directory(); !made) {
    return report_error(options, made.error());
  }
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return report_error(options, worker.error());
  }
  const bool watched = options.timed && options.run_settings.backend == "cpu";
  // The task is opened meanwhile: what we do ourselves does not count.
  const std::optional<MachineWatch> watch =
      watched ? std::optional<MachineWatch>(std::in_place) : std::nullopt;
  ProgressLine progress(!options.quiet);
  progress.show(task.name + ": opening (reference, baseline, ceilings, noise floor)");
  if (const Result<Opened> opened = open_task(*worker, options, task, stop); !opened) {
    progress.clear();
    return report_error(options, opened.error());
  }
  const std::optional<MachineLoad> load =
      watch ? std::optional(watch->look()) : std::optional<MachineLoad>();
  if (load) {
    progress.clear();
    print_load(options, *load);
  }
  progress.show(task.name + ": building");
  if (const Status built = build_ahead(*worker, orders, stop); !built) {
    progress.clear();
    return report_error(options, built.error());
  }
  Harvest harvest = judge_all(*worker, orders, certificates, task.name, progress, stop);
  harvest.load = load;
  progress.clear();
  print_harvest(options, harvest);
  return judged_exit_code(options, harvest);
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
int judge_by_bundle(const Options& options, const std::filesystem::path& file, const Task& task,
                    const std::vector<EvaluateOrder>& orders) {
  const OpenOrder open = open_order(options, task);
  const std::vector<Bundle::Request> requests = bundle_requests(open, orders);
  std::string all;
  for (const Bundle::Request& request : requests) {
    all += request.body->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  Result<Bundle> bundle = Bundle::open(file, "evaluation " + sha256(all));
  if (!bundle) {
    return report_error(options, bundle.error());
  }
  const Result<std::vector<Evaluated>> evaluations = bundle_results(*bundle, open, orders);
  if (!evaluations) {
    return report_error(options, evaluations.error());
  }
  if (evaluations->size() == orders.size()) {
    Harvest harvest{*evaluations, std::nullopt, std::nullopt};
    if (const Status kept = keep_certificates(options, *evaluations); !kept) {
      harvest.error = kept.error();
    }
    print_harvest(options, harvest);
    return judged_exit_code(options, harvest);
  }
  for (const auto& [id, error] : bundle->failures()) {
    print_note(options, fmt::format("request {} failed there and will be tried again: {}", id,
                                    error.text()));
  }
  if (!bundle->asks(requests.front().id)) {
    if (const Status written = bundle->write(requests); !written) {
      return report_error(options, written.error());
    }
  }
  print_waiting(options.run_settings, "this command again");
  return exit_waiting;
}

}  // namespace

int evaluate(const Options& options, std::stop_token stop) {
  const Result<Task> task = load_named_task(options.task);
  if (!task) {
    return report_error(options, task.error());
  }
  const Result<std::vector<EvaluateOrder>> orders = evaluate_orders(options, *task);
  if (!orders) {
    return report_error(options, orders.error());
  }
  const std::optional<std::filesystem::path> file = bundle_file(options.run_settings.workers);
  return file ? judge_by_bundle(options, *file, *task, *orders)
              : judge_here(options, *task, *orders, stop);
}

}  // namespace kernelpro
