#include "coordinator/llm/transcript.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/llm_json.hpp"
#include "coordinator/llm/caller.hpp"
#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/json_lines.hpp"

namespace kernelpro {

using nlohmann::json;

// A call with what it keeps as text.
struct TranscriptLine {
  LlmCall call;
  wire::JsonObject request;
  json answer;  // null: it failed
};

void describe(Form& form, TranscriptLine& line) {
  constexpr std::int64_t format_version = 1;
  std::int64_t version = format_version;
  form("version", version);
  form.expect(version == format_version,
              "version " + std::to_string(format_version) +
                  " of a transcript: it was written by another kernelpro");
  LlmCall& call = line.call;
  form.count("node", call.node);
  KP_FIELDS(form, call, role, turn, id);
  const CallName name{call.node, call.role, call.turn};
  form.expect(call.id == name.id(), "\"" + name.id() + "\", as node, role and turn say");
  KP_FIELDS(form, call, provider, model, answered_by, failure, started, usage, priced);
  KP_FIELDS(form.count, call, latency_ns, cost);
  form("request", line.request);
  if (!form.reading()) {
    form.slot("answer") = line.answer;
  } else if (const json* answer = form.place("answer").raw()) {
    line.answer = *answer;
  }
}

namespace {

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
  KP_LET(json request, parse_part(call, call.request, "request"));
  TranscriptLine line{call, std::make_shared<const json>(std::move(request)), nullptr};
  if (call.state == CallState::answered) {
    KP_LET(line.answer, parse_part(call, call.answer, "answer"));
  }
  return wire::written(line);
}

Result<LlmCall> call_of(const json& json_line) {
  KP_LET(TranscriptLine line, wire::read_whole<TranscriptLine>(json_line));
  LlmCall& call = line.call;
  call.request = line.request->dump();
  const bool answered = !line.answer.is_null();
  if (answered == !call.failure.empty()) {
    return make_error(ErrorKind::bad_input,
                      answered ? "it has both an answer and a failure, expected one of them"
                               : "it has neither an answer nor a failure");
  }
  call.state = answered ? CallState::answered : CallState::failed;
  if (!answered) {
    return std::move(call);
  }
  if (const Result<ChatAnswer> read = chat_answer_from_json(line.answer); !read) {
    return make_error(ErrorKind::bad_input, read.error().text(), "/answer");
  }
  call.answer = line.answer.dump();
  return std::move(call);
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
