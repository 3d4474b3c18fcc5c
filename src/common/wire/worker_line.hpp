// The lines between coordinator and worker: one JSON object a line, in both directions.
//
//   request  {"v":1,"id":7,"op":"evaluate", … the body's keys …}
//   reply    {"v":1,"id":7,"ok":true,"result":{…}}
//            {"v":1,"id":7,"ok":false,"error":{"kind":"busy","message":"…","context":"…"}}
//   event    {"v":1,"id":7,"event":"stage","stage":"smoke","text":"…"}
//
// A request gets any number of events and then one reply, all with its id. Ids count from 1; a
// reply with id 0 answers a line whose id could not be read. All that we write is sealed
// (sealed_line.hpp); a request that a person writes need not be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/base/result.hpp"

namespace kernelpro {

inline constexpr int worker_line_version = 1;
inline constexpr std::size_t longest_worker_line = std::size_t{64} << 20U;

enum class WorkerOp { open, build, evaluate, diagnose, check, ceilings, describe, close };

[[nodiscard]] std::string_view name_of(WorkerOp op);

// A JSON object, never null. Shared, so that this header does not need the whole of nlohmann.
using JsonObject = std::shared_ptr<const nlohmann::json>;

struct WorkerRequest {
  std::int64_t id = 0;
  WorkerOp op = WorkerOp::describe;
  JsonObject body;  // without v, id and op; whoever serves the op checks it
};

struct WorkerReply {
  std::int64_t id = 0;
  Result<JsonObject> result = JsonObject();
};

struct WorkerEvent {
  std::int64_t id = 0;
  std::string stage;
  std::string text;  // for people
};

using WorkerMessage = std::variant<WorkerReply, WorkerEvent>;

// The line, its newline included. An internal error when `body` is not an object, has a key of the
// envelope or makes the line too long.
[[nodiscard]] Result<std::string> request_line(std::int64_t id, WorkerOp op,
                                               const nlohmann::json& body);
[[nodiscard]] Result<std::string> reply_line(std::int64_t id, const nlohmann::json& result);
// {"kind": …, "message": …, "context": …}
[[nodiscard]] nlohmann::json to_json(const Error&);
// These never grow too long: texts are cut at 1 MiB.
[[nodiscard]] std::string error_line(std::int64_t id, const Error& error);
[[nodiscard]] std::string event_line(const WorkerEvent& event);

// The worker's side, with or without the newline. A line that is no request is a bad_input error.
[[nodiscard]] Result<WorkerRequest> parse_request(const std::string& line);

// The id of a line that parse_request refused, so that the refusal can be addressed; 0 when it
// cannot be read.
[[nodiscard]] std::int64_t refused_request_id(const std::string& line);

// The coordinator's side. A line that is neither reply nor event means that the worker is `lost`.
[[nodiscard]] Result<WorkerMessage> parse_worker_message(const std::string& line);

}  // namespace kernelpro
