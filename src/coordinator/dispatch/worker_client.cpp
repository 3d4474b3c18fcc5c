#include "coordinator/dispatch/worker_client.hpp"

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/dispatch/answer.hpp"

namespace kernelpro {

namespace {

// How long a worker that a command starts may take to its first answer.
std::int64_t greeting_timeout_ms() {
  constexpr std::int64_t minute_ms = 60'000;
  const char* text = std::getenv("KERNELPRO_WORKER_TIMEOUT_MS");
  const std::int64_t given = text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
  return given > 0 ? given : minute_ms;
}

constexpr std::int64_t farewell_timeout_ms = 5000;
// When whoever asked us to stop is waiting: a worker leaves within 600 ms then.
constexpr std::int64_t short_farewell_timeout_ms = 800;

Error did_not_answer(const std::string& context) {
  return make_error(ErrorKind::lost,
                    "it did not answer within " + std::to_string(greeting_timeout_ms()) + " ms",
                    context);
}

// What was timed beside other jobs is in doubt.
void doubt_timing(Verdict& verdict) {
  if (verdict.outcome == Outcome::passed && verdict.timing.comparison != Comparison::not_timed) {
    verdict.suspect = true;
    verdict.suspicions.emplace_back(
        "the cluster may have run other jobs on the node while it was timed");
  }
}

// Nothing more is believed of a worker that answers something else.
Status believed(const Status& checked) {
  return checked ? checked : Status(make_error(ErrorKind::lost, checked.error().message, "worker"));
}

}  // namespace

Result<WorkerClient> WorkerClient::start(const std::filesystem::path& program) {
  KP_LET(const std::filesystem::path found,
         program.empty() ? sibling_program("kernelpro-worker") : program);
  return start(std::vector<std::string>{found.string()});
}

Result<WorkerClient> WorkerClient::start(const WorkerPlace& place, std::stop_token stop) {
  if (place.here()) {
    return start();
  }
  if (place.slurm) {
    return start_in_job(*place.slurm, std::move(stop));
  }
  KP_LET(WorkerClient worker, start(std::vector<std::string>{"/bin/sh", "-c", place.command}));
  KP_TRY(worker.greet(place.command, std::move(stop)));
  return worker;
}

Status WorkerClient::greet(const std::string& command, std::stop_token stop) {
  KP_LET(const std::int64_t id, send(WorkerOp::describe, nlohmann::json::object(), stop));
  const Result<JsonObject> answer = await_reply(id, greeting_timeout_ms(), stop);
  if (!answer) {
    return answer.error().kind == ErrorKind::timeout ? did_not_answer(command) : answer.error();
  }
  return check_description(*answer, command);
}

Status WorkerClient::check_description(const JsonObject& answer, std::string where) {
  KP_LET(greeting_, description_from_json(*answer));
  where_ = std::move(where);
  return greeting_.version == KERNELPRO_VERSION
             ? Status()
             : make_error(ErrorKind::environment,
                          "the worker there is of version " + greeting_.version +
                              ", and this program of version " + KERNELPRO_VERSION +
                              "; install the same version there",
                          where_);
}

Result<WorkerClient> WorkerClient::start_in_job(const SlurmPlace& place, std::stop_token stop) {
  KP_LET(SlurmJob job, SlurmJob::prepare(place));
  KP_LET(WorkerClient worker, start(job.command()));
  worker.job_.emplace(std::move(job));
  if (const Status greeted = worker.greet_job(place.wait_seconds * 1000, std::move(stop));
      !greeted) {
    worker.stopped_ = true;  // whatever it does now is not wanted
    return greeted.error();
  }
  return worker;
}

Status WorkerClient::greet_job(std::int64_t wait_ms, std::stop_token stop) {
  KP_LET(const std::int64_t id, send(WorkerOp::describe, nlohmann::json::object(), stop));
  Result<JsonObject> answer = await_reply(id, wait_ms, stop);
  std::optional<SlurmState> state = job_->look();
  if (!answer && answer.error().kind == ErrorKind::timeout) {
    if (!state || state->is_waiting()) {
      return make_error(ErrorKind::timeout,
                        "the cluster has given it no node within " +
                            std::to_string(wait_ms / 1000) +
                            " s; wait=TIME waits longer, other options may find one sooner",
                        state ? state->text() : "slurm");
    }
    answer = await_reply(id, greeting_timeout_ms(), stop);
  }
  if (!answer && answer.error().kind == ErrorKind::timeout) {
    return did_not_answer(state->text());
  }
  if (!answer) {
    const bool refused = !state && answer.error().kind == ErrorKind::lost;
    return refused ? make_error(ErrorKind::environment, job_->complaint(), "slurm refused the job")
                   : answer.error();
  }
  shared_ = !state || state->sharing != "NO";
  return check_description(*answer, state ? state->where() : "slurm");
}

Result<WorkerClient> WorkerClient::start(std::vector<std::string> arguments) {
  Command command;
  command.arguments = std::move(arguments);
  command.inherit_environment = true;
  KP_LET(ChildProcess process, ChildProcess::start(command));
  return WorkerClient(std::move(process));
}

WorkerClient::~WorkerClient() {
  if (process_.pid() <= 0) {
    return;
  }
  if (job_) {
    leave_job();
    return;
  }
  ::kill(process_.pid(), SIGTERM);
  const bool left = process_.finish(stopped_ ? short_farewell_timeout_ms : farewell_timeout_ms);
  if (!left || lost_) {
    remove_abandoned_scratch();  // it could not do so itself
  }
}

// One that has nothing to do leaves at the end of its input. srun itself must not be asked to end:
// it kills the worker at once, which then leaves its folders behind.
void WorkerClient::leave_job() {
  const bool idle = !stopped_ && !lost_;
  if (!idle) {
    job_->cancel();
  }
  if (!process_.finish(farewell_timeout_ms) && idle) {
    job_->cancel();
  }
}

Error WorkerClient::noted(Error error) {
  stopped_ = stopped_ || error.kind == ErrorKind::interrupted;
  lost_ = lost_ || error.kind == ErrorKind::lost;
  if (job_ && error.kind == ErrorKind::lost) {
    const std::optional<SlurmState> state = job_->look_back();
    taken_away_ = job_->was_ended(state);
    const std::string said = job_->complaint();
    error.message += said.empty() ? "" : ": " + said;
    error.context = state ? state->text() : "slurm";
  }
  return error;
}

Result<JsonObject> WorkerClient::ask(WorkerOp op, const nlohmann::json& body,
                                     std::stop_token stop) {
  KP_LET(const std::int64_t id, send(op, body, stop));
  return await_reply(id, answer_timeout_ms, stop);
}

Result<std::int64_t> WorkerClient::send(WorkerOp op, const nlohmann::json& body,
                                        std::stop_token stop) {
  const std::int64_t id = ++next_id_;
  KP_LET(std::string line, request_line(id, op, body));
  line.pop_back();  // write_line adds the newline
  if (const Status written = process_.write_line(line, std::move(stop)); !written) {
    return noted(written.error());
  }
  return id;
}

Result<JsonObject> WorkerClient::await_reply(std::int64_t id, std::int64_t timeout_ms,
                                             std::stop_token stop) {
  for (;;) {
    const Result<std::string> answer = process_.read_line(timeout_ms, stop);
    if (!answer) {
      return noted(answer.error());
    }
    KP_LET(const WorkerMessage message, parse_worker_message(*answer));
    if (const auto* event = std::get_if<WorkerEvent>(&message)) {
      if (listener_ && event->id == id) {
        listener_(*event);
      }
      continue;
    }
    const auto& reply = std::get<WorkerReply>(message);
    if (reply.id != id) {
      continue;
    }
    const bool ended = !reply.result && reply.result.error().kind == ErrorKind::interrupted;
    if (ended && !stop.stop_requested()) {
      return noted(make_error(ErrorKind::lost, "somebody else told the worker to end"));
    }
    return reply.result;
  }
}

Result<WorkerDescription> WorkerClient::describe(std::stop_token stop) {
  KP_LET(const JsonObject reply, ask(WorkerOp::describe, nlohmann::json::object(), stop));
  return description_from_json(*reply);
}

Result<Ceilings> WorkerClient::ceilings(const CeilingsOrder& order, std::stop_token stop) {
  KP_LET(const JsonObject reply, ask(WorkerOp::ceilings, to_json(order), stop));
  return ceilings_from_json(*reply);
}

Result<Opened> WorkerClient::open(const OpenOrder& order, std::stop_token stop) {
  KP_LET(const JsonObject reply, ask(WorkerOp::open, to_json(order), stop));
  Result<Opened> opened = opened_from_json(*reply);
  if (opened) {
    KP_TRY(believed(check_answer(order, *opened)));
    order_ = order;
  }
  return opened;
}

Result<std::vector<BuildSummary>> WorkerClient::build(const std::vector<Candidate>& candidates,
                                                      std::stop_token stop) {
  const nlohmann::json order = to_json(BuildOrder{candidates});
  KP_LET(const JsonObject reply, ask(WorkerOp::build, order, stop));
  KP_LET(BuildReply read, build_reply_from_json(*reply));
  return std::move(read.built);
}

Result<Evaluated> WorkerClient::evaluate(const EvaluateOrder& order, std::stop_token stop) {
  KP_LET(const JsonObject reply, ask(WorkerOp::evaluate, to_json(order), stop));
  Result<Evaluated> evaluated = evaluated_from_json(*reply);
  if (evaluated) {
    KP_TRY(believed(check_answer(order_, order, *evaluated)));
    if (shared_) {
      doubt_timing(evaluated->certificate.verdict);
    }
  }
  return evaluated;
}

Result<Diagnosed> WorkerClient::diagnose(const DiagnoseOrder& order, std::stop_token stop) {
  KP_LET(const JsonObject reply, ask(WorkerOp::diagnose, to_json(order), stop));
  return diagnosed_from_json(*reply);
}

Result<std::vector<LintFinding>> WorkerClient::check(std::stop_token stop) {
  KP_LET(const JsonObject reply, ask(WorkerOp::check, nlohmann::json::object(), stop));
  KP_LET(LintFindings read, findings_from_json(*reply));
  return std::move(read.findings);
}

}  // namespace kernelpro
