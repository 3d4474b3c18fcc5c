#include "coordinator/llm/transcript.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/llm_json.hpp"
#include "common/wire/writer.hpp"
#include "coordinator/llm/caller.hpp"
#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/json_lines.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;
using wire::Fields;
using wire::Place;

constexpr std::int64_t format_version = 1;

Result<json> parse_part(const LlmCall& call, const std::string& text, const char* what) {
  Result<json> parsed = parse_json(text);
  if (!parsed) {
    return make_error(ErrorKind::internal,
                      std::string("the kept ") + what + " is no JSON: " + parsed.error().text(),
                      "call " + call.id);
  }
  return parsed;
}

Result<json> line_of(const LlmCall& call) {
  Result<json> request = parse_part(call, call.request, "request");
  if (!request) {
    return request;
  }
  json line = {{"version", format_version},
               {"id", wire::write_text(call.id)},
               {"node", call.node},
               {"role", name_of(call.role)},
               {"turn", call.turn},
               {"provider", wire::write_text(call.provider)},
               {"model", wire::write_text(call.model)},
               {"answered_by", wire::write_text(call.answered_by)},
               {"request", std::move(*request)},
               {"answer", nullptr},
               {"failure", wire::write_text(call.failure)},
               {"started", wire::write_text(call.started)},
               {"latency_ns", call.latency_ns},
               {"usage", to_json(call.usage)},
               {"cost", call.cost},
               {"priced", call.priced}};
  if (call.state == CallState::answered) {
    Result<json> answer = parse_part(call, call.answer, "answer");
    if (!answer) {
      return answer;
    }
    line["answer"] = std::move(*answer);
  }
  return line;
}

LlmCall read_line(const Place& place) {
  Fields fields(place);
  const Place version = fields.at("version");
  if (version.integer() != format_version) {
    version.complain_expected("version " + std::to_string(format_version) +
                              " of a transcript: it was written by another kernelpro");
  }
  LlmCall call;
  const Place id = fields.at("id");
  call.id = id.text();
  call.node = wire::read_count(fields.at("node"));
  call.role = fields.at("role").name(parse_llm_role, "planner, coder, fixer, reviewer");
  call.turn = fields.at("turn").small_integer();
  if (const CallName name{call.node, call.role, call.turn}; call.id != name.id()) {
    id.complain_expected("\"" + name.id() + "\", as node, role and turn say");
  }
  call.provider = fields.at("provider").text();
  call.model = fields.at("model").text();
  call.answered_by = fields.at("answered_by").text();
  (void)fields.at("request").members();
  (void)fields.at("answer");
  call.failure = fields.at("failure").text();
  call.started = fields.at("started").text();
  call.latency_ns = wire::read_count(fields.at("latency_ns"));
  call.usage = wire::read_usage(fields.at("usage"));
  call.cost = wire::read_count(fields.at("cost"));
  call.priced = fields.at("priced").truth();
  fields.end();
  return call;
}

Result<LlmCall> call_of(const json& line) {
  Result<LlmCall> call = wire::read_document(line, read_line);
  if (!call) {
    return call;
  }
  call->request = line.at("request").dump();
  const json& answer = line.at("answer");
  const bool answered = !answer.is_null();
  if (answered == !call->failure.empty()) {
    return make_error(ErrorKind::bad_input,
                      answered ? "it has both an answer and a failure, expected one of them"
                               : "it has neither an answer nor a failure");
  }
  call->state = answered ? CallState::answered : CallState::failed;
  if (!answered) {
    return call;
  }
  if (const Result<ChatAnswer> read = chat_answer_from_json(answer); !read) {
    return make_error(ErrorKind::bad_input, read.error().text(), "/answer");
  }
  call->answer = answer.dump();
  return call;
}

}  // namespace

Result<std::string> transcript_text(const std::vector<LlmCall>& calls) {
  std::string text;
  for (const LlmCall& call : calls) {
    if (call.state == CallState::waiting) {
      continue;
    }
    KP_LET(const json line, line_of(call));
    text += line.dump() + "\n";
  }
  return text;
}

Result<std::vector<LlmCall>> read_transcript(const std::filesystem::path& file) {
  std::vector<LlmCall> calls;
  std::map<std::string, std::string> places;
  const auto read = [&](const JsonLine& line) -> Status {
    Result<LlmCall> call = call_of(line.json);
    if (!call) {
      return make_error(ErrorKind::bad_input, call.error().text(), line.place);
    }
    const auto [first, added] = places.emplace(call->id, line.place);
    if (!added) {
      return make_error(ErrorKind::bad_input,
                        "the call " + call->id + " is there twice, first at " + first->second,
                        line.place);
    }
    calls.push_back(std::move(*call));
    return {};
  };
  KP_TRY(read_json_lines(file, read));
  if (calls.empty()) {
    return make_error(ErrorKind::bad_input,
                      "there is no call in it, expected a transcript of a run", file.string());
  }
  return calls;
}

}  // namespace kernelpro
