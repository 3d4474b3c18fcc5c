#include "coordinator/llm/replay_chat.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/openai_form.hpp"
#include "coordinator/llm/provider.hpp"
#include "coordinator/llm/transcript.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

// Without what says how an answer is sent rather than what is asked.
std::string asked_hash(json body) {
  body.erase("stream");
  body.erase("stream_options");
  if (const auto limit = body.find(new_limit_name); limit != body.end()) {
    json value = *limit;
    body.erase(limit);
    body[std::string(old_limit_name)] = std::move(value);
  }
  return sha256(body.dump());
}

Chat::Tried failed(Error error, bool for_all, bool may_cost) {
  ChatFailure failure;
  failure.error = std::move(error);
  failure.for_all = for_all;
  failure.may_cost = may_cost;
  return {.reply = {}, .failure = std::move(failure)};
}

}  // namespace

Result<std::unique_ptr<ReplayChat>> ReplayChat::open(const std::filesystem::path& file) {
  KP_LET(const std::vector<LlmCall> calls, read_transcript(file));
  return std::unique_ptr<ReplayChat>(new ReplayChat(file, calls));
}

ReplayChat::ReplayChat(std::filesystem::path file, const std::vector<LlmCall>& calls)
    : file_(std::move(file)) {
  for (const Provider& provider : providers()) {
    if (!provider.openai_form) {
      dialects_[std::string(provider.name)] = provider.dialect(BaseUrl{});
    }
  }
  for (const LlmCall& call : calls) {
    const auto own = dialects_.find(call.provider);
    // The transcript's reader has parsed it.
    calls_[call.id] = {.request_hash = asked_hash(json::parse(call.request)),
                       .answer = call.answer,
                       .failure = call.failure,
                       .dialect = own == dialects_.end() ? nullptr : own->second.get(),
                       .cost = call.usage != Usage{}};
    models_.emplace(call.role, call.model);
  }
  last_ = calls.back().id;
}

std::string ReplayChat::body(const ChatRequest& request) const {
  return openai_body(request, false).dump();
}

Error ReplayChat::not_recorded(const std::string& id) const {
  return make_error(
      ErrorKind::bad_input,
      fmt::format("there is no call {} in this recording: it ends there, with {} calls of which "
                  "the last is {}",
                  id, calls_.size(), last_),
      file_.string());
}

Chat::Tried ReplayChat::try_once(const std::string& id, const ChatRequest& request,
                                 const TextListener& listener, std::stop_token) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) {
    return failed(not_recorded(id), true, false);
  }
  const Recorded& recorded = found->second;
  const std::string bytes =
      recorded.dialect != nullptr ? recorded.dialect->body(request) : body(request);
  if (asked_hash(json::parse(bytes)) != recorded.request_hash) {
    ++differing_;
  }
  if (recorded.answer.empty()) {
    return failed(make_error(ErrorKind::lost, recorded.failure), false, recorded.cost);
  }
  Result<ChatAnswer> answer = chat_answer_from_json(json::parse(recorded.answer));
  if (!answer) {
    return failed(answer.error(), true, false);
  }
  if (listener) {
    listener(answer->text);
  }
  return {.reply = {.answer = std::move(*answer)}, .failure = {}};
}

std::string ReplayChat::model(LlmRole role) const {
  const auto found = models_.find(role);
  return found == models_.end() ? "" : found->second;
}

}  // namespace kernelpro
