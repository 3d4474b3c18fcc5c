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
  KP_LET(WorkerClient worker, start(std::vector<std::string>{"/bin/sh", "-c", place.command}));
  const std::int64_t limit_ms = greeting_timeout_ms();
  const Result<JsonObject> answer =
      worker.ask(WorkerOp::describe, nlohmann::json::object(), stop, limit_ms);
  if (!answer && answer.error().kind == ErrorKind::timeout) {
    return make_error(ErrorKind::lost,
                      "it did not answer within " + std::to_string(limit_ms) + " ms",
                      place.command);
  }
  return answer ? Result<WorkerClient>(std::move(worker)) : answer.error();
}

Result<WorkerClient> WorkerClient::start(std::vector<std::string> arguments) {
  Command command;
  command.arguments = std::move(arguments);
  command.inherit_environment = true;
  KP_LET(ChildProcess process, ChildProcess::start(command));
  return WorkerClient(std::move(process));
}

WorkerClient::~WorkerClient() {
  if (process_.pid() > 0) {
    ::kill(process_.pid(), SIGTERM);
    const bool left = process_.finish(stopped_ ? short_farewell_timeout_ms : farewell_timeout_ms);
    if (!left || lost_) {
      remove_abandoned_scratch();  // it could not do so itself
    }
  }
}

Error WorkerClient::noted(const Error& error) {
  stopped_ = stopped_ || error.kind == ErrorKind::interrupted;
  lost_ = lost_ || error.kind == ErrorKind::lost;
  return error;
}

Result<JsonObject> WorkerClient::ask(WorkerOp op, const nlohmann::json& body, std::stop_token stop,
                                     std::int64_t timeout_ms) {
  const std::int64_t id = ++next_id_;
  KP_LET(std::string line, request_line(id, op, body));
  line.pop_back();  // write_line adds the newline
  if (const Status written = process_.write_line(line, stop); !written) {
    return noted(written.error());
  }
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
    if (reply.id == id) {
      return reply.result;
    }
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
