#include "common/wire/worker_line.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/model/enum_names.hpp"
#include "common/wire/form.hpp"
#include "common/wire/json.hpp"
#include "common/wire/sealed_line.hpp"

namespace kernelpro {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 8> op_names = {"open",  "build",    "evaluate", "diagnose",
                                                      "check", "ceilings", "describe", "close"};

constexpr std::array<std::string_view, 8> error_kind_names = {
    "bad_input", "environment", "io", "busy", "lost", "timeout", "interrupted", "internal"};

}  // namespace

std::string_view name_of(WorkerOp op) {
  return enum_name(op_names, op);
}

std::string_view name_of(ErrorKind kind) {
  return enum_name(error_kind_names, kind);
}

KP_LAST(WorkerOp, close);
KP_LAST(ErrorKind, internal);

namespace {

void describe_envelope(Form& form, std::int64_t& id) {
  form.version(worker_line_version, "a worker line", wire::same_on_both_sides);
  form.may_hold("sum");
  form("id", id);
}

}  // namespace

KP_DESCRIBE(Error, kind, message, context)

// The body's keys stand beside these.
void describe(Form& form, WorkerRequest& request) {
  describe_envelope(form, request.id);
  form("op", request.op);
  form.pass_over_others();
}

void describe(Form& form, WorkerEvent& event) {
  describe_envelope(form, event.id);
  std::string kind = "stage";
  form("event", kind);
  form.expect(kind == "stage", "one of stage");
  KP_FIELDS(form, event, stage, text);
}

void describe(Form& form, WorkerReply& reply) {
  describe_envelope(form, reply.id);
  bool ok = reply.result.ok();
  form("ok", ok);
  if (form.reading()) {
    reply.result = ok ? Result<JsonObject>(JsonObject()) : Error();
  }
  if (ok) {
    form("result", *reply.result);
  } else {
    Error error = reply.result.error();
    form("error", error);
    if (form.reading()) {
      reply.result = std::move(error);
    }
  }
}

void describe(Form& form, WorkerMessage& message) {
  if (form.has("event")) {
    describe(form, message.emplace<WorkerEvent>());
  } else {
    describe(form, message.emplace<WorkerReply>());
  }
}

namespace {

std::string excerpt(const std::string& text) {
  constexpr std::size_t longest = std::size_t{1} << 20U;
  return text.size() > longest ? text.substr(0, longest) + " …" : text;
}

std::string too_long(std::size_t bytes) {
  return "a worker line of " + std::to_string(bytes) + " bytes, expected at most " +
         std::to_string(longest_worker_line) + " (64 MiB)";
}

Result<std::string> finished_line(const json& object) {
  std::string text = object.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() + wire::seal_bytes > longest_worker_line) {
    return make_error(ErrorKind::internal,
                      too_long(text.size() + wire::seal_bytes) + ": send less at once");
  }
  return wire::sealed(std::move(text)) + "\n";
}

Result<json> parse_line(const std::string& line) {
  if (line.size() > longest_worker_line + 1) {
    return make_error(ErrorKind::bad_input, too_long(line.size()), "worker line");
  }
  if (wire::seal_of(line) == wire::Seal::broken) {
    return wire::check_seal(line).error();
  }
  return parse_json(line);
}

Result<WorkerMessage> parse_message(const std::string& line) {
  KP_LET(const json object, parse_line(line));
  KP_LET(WorkerMessage message, wire::read_whole<WorkerMessage>(object));
  KP_TRY(wire::check_seal(line));
  return message;
}

}  // namespace

Result<std::string> request_line(std::int64_t id, WorkerOp op, const json& body) {
  if (!body.is_object()) {
    return make_error(ErrorKind::internal, "the body of a worker request must be an object",
                      std::string(name_of(op)));
  }
  json object = wire::written(WorkerRequest{id, op, nullptr});
  for (const auto& [key, value] : body.items()) {
    if (object.contains(key)) {
      return make_error(ErrorKind::internal,
                        "the body of a worker request may not have the envelope's key " + key,
                        std::string(name_of(op)));
    }
    object[key] = value;
  }
  return finished_line(object);
}

Result<std::string> reply_line(std::int64_t id, const json& result) {
  if (!result.is_object()) {
    return make_error(ErrorKind::internal, "the result of a worker request must be an object");
  }
  return finished_line(wire::written(WorkerReply{id, std::make_shared<const json>(result)}));
}

json to_json(const Error& error) {
  return wire::written(error);
}

std::string error_line(std::int64_t id, const Error& error) {
  const Error cut = make_error(error.kind, excerpt(error.message), excerpt(error.context));
  return wire::sealed(wire::written(WorkerReply{id, cut}).dump()) + "\n";
}

std::string event_line(const WorkerEvent& event) {
  const WorkerEvent cut{event.id, excerpt(event.stage), excerpt(event.text)};
  return wire::sealed(wire::written(cut).dump()) + "\n";
}

Result<WorkerRequest> parse_request(const std::string& line) {
  KP_LET(json object, parse_line(line));
  KP_LET(WorkerRequest request, wire::read_whole<WorkerRequest>(object));
  for (const char* key : {"v", "id", "op", "sum"}) {
    object.erase(key);
  }
  request.body = std::make_shared<const json>(std::move(object));
  return request;
}

std::int64_t refused_request_id(const std::string& line) {
  if (line.size() > longest_worker_line + 1) {
    return 0;
  }
  const Result<json> object = parse_json(line);
  if (!object.ok()) {
    return 0;
  }
  std::optional<Error> failure;
  return Place(&*object, "", failure).at("id").integer();
}

Result<WorkerMessage> parse_worker_message(const std::string& line) {
  Result<WorkerMessage> message = parse_message(line);
  if (!message.ok()) {
    return make_error(ErrorKind::lost, "the worker sent a line that is no reply and no event: " +
                                           message.error().text());
  }
  return message;
}

}  // namespace kernelpro
