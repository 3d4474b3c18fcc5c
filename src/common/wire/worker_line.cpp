#include "common/wire/worker_line.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/wire/json.hpp"
#include "common/wire/reader.hpp"
#include "common/wire/sealed_line.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace {

using nlohmann::json;
using wire::Fields;
using wire::Place;

constexpr std::array<std::pair<WorkerOp, std::string_view>, 8> ops = {{
    {WorkerOp::open, "open"},
    {WorkerOp::build, "build"},
    {WorkerOp::evaluate, "evaluate"},
    {WorkerOp::diagnose, "diagnose"},
    {WorkerOp::check, "check"},
    {WorkerOp::ceilings, "ceilings"},
    {WorkerOp::describe, "describe"},
    {WorkerOp::close, "close"},
}};

constexpr std::array<std::pair<ErrorKind, std::string_view>, 8> error_kinds = {{
    {ErrorKind::bad_input, "bad_input"},
    {ErrorKind::environment, "environment"},
    {ErrorKind::io, "io"},
    {ErrorKind::busy, "busy"},
    {ErrorKind::lost, "lost"},
    {ErrorKind::timeout, "timeout"},
    {ErrorKind::interrupted, "interrupted"},
    {ErrorKind::internal, "internal"},
}};

std::string_view name_of_kind(ErrorKind kind) {
  const auto* found =
      std::ranges::find(error_kinds, kind, &std::pair<ErrorKind, std::string_view>::first);
  return found->second;
}

std::optional<ErrorKind> parse_error_kind(std::string_view name) {
  for (const auto& [kind, known] : error_kinds) {
    if (known == name) {
      return kind;
    }
  }
  return std::nullopt;
}

std::string excerpt(const std::string& text) {
  constexpr std::size_t longest = std::size_t{1} << 20U;
  return text.size() > longest ? text.substr(0, longest) + " …" : text;
}

json envelope(std::int64_t id) {
  return {{"v", worker_line_version}, {"id", id}};
}

std::string too_long(std::size_t bytes) {
  return "a worker line of " + std::to_string(bytes) + " bytes, expected at most " +
         std::to_string(longest_worker_line) + " (64 MiB)";
}

Result<std::string> finished_line(const json& object) {
  std::string line = wire::sealed(object.dump(-1, ' ', false, json::error_handler_t::replace));
  if (line.size() > longest_worker_line) {
    return make_error(ErrorKind::internal, too_long(line.size()) + ": send less at once");
  }
  return line + "\n";
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

// First of all, since another version may mean something else by every other key.
void check_version(Fields& fields) {
  const Place place = fields.at("v");
  const std::int64_t version = place.integer();
  if (version != worker_line_version) {
    place.complain("worker line version " + std::to_string(version) + ", expected " +
                   std::to_string(worker_line_version) +
                   ": install the same kernelpro on both sides");
  }
}

WorkerRequest read_request(const Place& place) {
  Fields fields(place);
  check_version(fields);
  WorkerRequest request;
  request.id = fields.at("id").integer();
  request.op = fields.at("op").name(
      parse_worker_op, "open, build, evaluate, diagnose, check, ceilings, describe, close");
  return request;
}

Error read_error(const Place& place) {
  Fields fields(place);
  Error error;
  error.kind = fields.at("kind").name(parse_error_kind,
                                      "bad_input, environment, io, busy, lost, timeout, "
                                      "interrupted, internal");
  error.message = fields.at("message").text();
  error.context = fields.at("context").text();
  fields.end();
  return error;
}

// `object` is the same line as `place`: a result is handed on as it is.
WorkerMessage read_message(const Place& place, const json& object) {
  Fields fields(place);
  check_version(fields);
  (void)fields.maybe("sum");
  const std::int64_t id = fields.at("id").integer();
  if (const auto event = fields.maybe("event")) {
    const auto only_stage = [](std::string_view name) {
      return name == "stage" ? std::optional(true) : std::nullopt;
    };
    (void)event->name(only_stage, "stage");
    WorkerEvent stage{
        .id = id, .stage = fields.at("stage").text(), .text = fields.at("text").text()};
    fields.end();
    return stage;
  }
  if (!fields.at("ok").truth()) {
    WorkerReply refusal{.id = id, .result = read_error(fields.at("error"))};
    fields.end();
    return refusal;
  }
  const Place result = fields.at("result");
  (void)result.members();
  fields.end();
  const auto found = object.find("result");
  auto shared = std::make_shared<const json>(found == object.end() ? json() : *found);
  return WorkerReply{.id = id, .result = JsonObject(std::move(shared))};
}

}  // namespace

std::string_view name_of(WorkerOp op) {
  const auto* found = std::ranges::find(ops, op, &std::pair<WorkerOp, std::string_view>::first);
  return found->second;
}

std::optional<WorkerOp> parse_worker_op(std::string_view name) {
  for (const auto& [op, known] : ops) {
    if (known == name) {
      return op;
    }
  }
  return std::nullopt;
}

Result<std::string> request_line(std::int64_t id, WorkerOp op, const json& body) {
  if (!body.is_object()) {
    return make_error(ErrorKind::internal, "the body of a worker request must be an object",
                      std::string(name_of(op)));
  }
  json object = envelope(id);
  object["op"] = name_of(op);
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
  json object = envelope(id);
  object["ok"] = true;
  object["result"] = result;
  return finished_line(object);
}

json to_json(const Error& error) {
  return {{"kind", name_of_kind(error.kind)},
          {"message", wire::write_text(error.message)},
          {"context", wire::write_text(error.context)}};
}

std::string error_line(std::int64_t id, const Error& error) {
  json object = envelope(id);
  object["ok"] = false;
  object["error"] = to_json(make_error(error.kind, excerpt(error.message), excerpt(error.context)));
  return wire::sealed(object.dump()) + "\n";
}

std::string event_line(const WorkerEvent& event) {
  json object = envelope(event.id);
  object["event"] = "stage";
  object["stage"] = wire::write_text(excerpt(event.stage));
  object["text"] = wire::write_text(excerpt(event.text));
  return wire::sealed(object.dump()) + "\n";
}

Result<WorkerRequest> parse_request(const std::string& line) {
  Result<json> object = parse_line(line);
  if (!object.ok()) {
    return object.error();
  }
  Result<WorkerRequest> request = wire::read_document(*object, read_request);
  if (!request.ok()) {
    return request;
  }
  for (const char* key : {"v", "id", "op", "sum"}) {
    object->erase(key);
  }
  request->body = std::make_shared<const json>(std::move(*object));
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
  const auto id = wire::read_document(
      *object, [](const Place& place) { return Fields(place).at("id").integer(); });
  return id.ok() ? *id : 0;
}

Result<WorkerMessage> parse_worker_message(const std::string& line) {
  const auto lost = [](const Error& error) {
    return make_error(ErrorKind::lost,
                      "the worker sent a line that is no reply and no event: " + error.text());
  };
  const Result<json> object = parse_line(line);
  if (!object.ok()) {
    return lost(object.error());
  }
  Result<WorkerMessage> message = wire::read_document(
      *object, [&](const Place& place) { return read_message(place, *object); });
  if (!message.ok()) {
    return lost(message.error());
  }
  const Status whole = wire::check_seal(line);
  return whole ? message : Result<WorkerMessage>(lost(whole.error()));
}

}  // namespace kernelpro
