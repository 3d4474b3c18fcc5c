#include "coordinator/llm/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/wire/json.hpp"
#include "coordinator/llm/openai_form.hpp"
#include "coordinator/llm/token_count.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

constexpr const char* completions_url = "/v1/chat/completions";

Chat::Tried failed(Error error, bool for_all) {
  ChatFailure failure;
  failure.error = std::move(error);
  failure.for_all = for_all;
  return {.reply = {}, .failure = std::move(failure)};
}

// Who answers by hand counts no tokens.
void estimate_usage(const ChatRequest& request, ChatAnswer& answer) {
  if (!answer.usage_known) {
    answer.usage = {.input = about_input_tokens(request), .output = about_output_tokens(answer)};
  }
}

}  // namespace

BatchChat::BatchChat(std::filesystem::path directory, std::string run,
                     const std::vector<LlmCall>& kept)
    : folder_(std::move(directory)), run_(std::move(run)) {
  for (const LlmCall& call : kept) {
    if (call.provider != provider()) {
      continue;
    }
    if (call.state == CallState::waiting) {
      add(call.id, call.request);
    } else {
      known_.emplace(call.id, batch_hash(call.request));
    }
  }
}

std::string BatchChat::body(const ChatRequest& request) const {
  return openai_body(request, false).dump();
}

BatchChat::Request& BatchChat::add(const std::string& call, std::string body) {
  const std::string hash = batch_hash(body);
  known_.emplace(call, hash);
  return requests_.emplace_back(Request{.call = call, .body = std::move(body), .hash = hash});
}

BatchChat::Request* BatchChat::find(const std::string& call) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const Request& request) { return request.call == call; });
  return found == requests_.end() ? nullptr : &*found;
}

BatchId BatchChat::id_of(const Request& request) const {
  return {.run = run_, .call = request.call, .hash = request.hash, .attempt = request.attempt};
}

// What this run has handed out it also keeps. A line it does not know is another's of that name.
Status BatchChat::check_open(const std::vector<BatchId>& open) {
  for (const BatchId& id : open) {
    if (id.run != run_) {
      continue;
    }
    if (!known_.contains({id.call, id.hash})) {
      return make_error(
          ErrorKind::bad_input,
          fmt::format("'{}' was handed out by another run that is called {} as well: name another "
                      "folder, or remove the line if that run is gone",
                      id.text(), run_),
          folder_.requests_file().string());
    }
    Request* const request = find(id.call);
    if (request != nullptr && request->hash == id.hash) {
      request->attempt = std::max(request->attempt, id.attempt);
    }
  }
  return {};
}

Status BatchChat::read_folder() {
  if (responses_) {
    return {};
  }
  const Result<BatchFolder::Content> content = folder_.read();
  if (!content) {
    return content.error();
  }
  KP_TRY(check_open(content->open));
  Result<BatchResponses> responses =
      read_batch_responses(folder_.directory(), run_, known_, content->runs);
  if (!responses) {
    return responses.error();
  }
  responses_ = std::move(*responses);
  for (Request& request : requests_) {
    (void)look_up(request);
  }
  return {};
}

Chat::Tried BatchChat::look_up(Request& request) {
  std::string last_failure;
  BatchId id = id_of(request);
  for (id.attempt = 1; id.attempt <= batch_attempts; ++id.attempt) {
    const auto found = responses_->find(id.text());
    if (found == responses_->end()) {
      continue;
    }
    if (found->second.answer) {
      request.open = false;
      return {.reply = {.answer = found->second.answer}, .failure = {}};
    }
    last_failure = found->second.failure;
    request.attempt = std::max(request.attempt, id.attempt + 1);
  }
  if (request.attempt <= batch_attempts) {
    return {};
  }
  request.open = false;
  return failed(
      make_error(ErrorKind::lost,
                 fmt::format("it was handed out {} times and failed each time, at last with: {}",
                             batch_attempts, last_failure)),
      false);
}

Chat::Tried BatchChat::try_once(const std::string& id, const ChatRequest& request,
                                const TextListener& listener, std::stop_token) {
  const std::lock_guard lock(mutex_);
  Request* const known = find(id);
  Request& asked = known != nullptr ? *known : add(id, body(request));
  if (const Status read = read_folder(); !read) {
    return failed(read.error(), true);
  }
  Tried tried = look_up(asked);
  if (tried.reply.answer) {
    estimate_usage(request, *tried.reply.answer);
    if (listener) {
      listener(tried.reply.answer->text);
    }
  }
  return tried;
}

std::string BatchChat::line_of(const Request& request) const {
  const Result<json> body = parse_json(request.body);
  const json line = {{"custom_id", id_of(request).text()},
                     {"method", "POST"},
                     {"url", completions_url},
                     {"body", body ? *body : json()}};
  return line.dump();
}

Status BatchChat::hand_out() {
  const std::lock_guard lock(mutex_);
  KP_TRY(read_folder());
  std::vector<std::string> lines;
  for (const Request& request : requests_) {
    if (request.open) {
      lines.push_back(line_of(request));
    }
  }
  return folder_.replace(run_, lines);
}

}  // namespace kernelpro
