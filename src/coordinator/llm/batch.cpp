#include "coordinator/llm/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/printable.hpp"
#include "common/wire/json.hpp"
#include "common/wire/writer.hpp"
#include "coordinator/llm/batch_body.hpp"
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

// Bounded, with nothing in it that a terminal would act on.
std::string reason_text(const std::string& failure) {
  constexpr std::size_t longest = 300;
  return wire::valid_utf8(printable(failure.substr(0, longest))) +
         (failure.size() > longest ? " …" : "");
}

// Who answers by hand counts no tokens.
void estimate_usage(const ChatRequest& request, ChatAnswer& answer) {
  if (!answer.usage_known) {
    answer.usage = {.input = about_input_tokens(request), .output = about_output_tokens(answer)};
  }
}

}  // namespace

BatchChat::BatchChat(std::filesystem::path directory, std::string run,
                     const std::vector<LlmCall>& kept, const std::vector<LlmRole>& roles)
    : folder_(std::move(directory)), run_(std::move(run)) {
  for (const LlmCall& call : kept) {
    if (call.provider != provider()) {
      // Somebody else was asked since: what was handed out before counts no more.
      known_.emplace(call.id, "");
      continue;
    }
    known_.emplace(call.id, batch_hash(call.request));
    known_.emplace(call.id, whole_batch_hash(call.request));
    if (call.state == CallState::waiting &&
        std::find(roles.begin(), roles.end(), call.role) != roles.end()) {
      add(call.id, call.request);
    }
  }
}

std::string BatchChat::body(const ChatRequest& request) const {
  return openai_body(request, false, new_limit_name).dump();
}

BatchChat::Request& BatchChat::add(const std::string& call, std::string body) {
  Request request;
  request.call = call;
  request.hash = batch_hash(body);
  request.whole_hash = whole_batch_hash(body);
  request.body = std::move(body);
  known_.emplace(call, request.hash);
  return requests_.emplace_back(std::move(request));
}

BatchChat::Request* BatchChat::find(const std::string& call) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const Request& request) { return request.call == call; });
  return found == requests_.end() ? nullptr : &*found;
}

BatchId BatchChat::id_of(const Request& request) const {
  return {.run = run_,
          .call = request.call,
          .hash = request.by_whole_hash ? request.whole_hash : request.hash,
          .attempt = request.attempt};
}

// What this run has handed out it also keeps. A line it does not know is another's of that name.
Status BatchChat::check_open(const std::vector<BatchId>& open) {
  for (const BatchId& id : open) {
    if (id.run != run_) {
      continue;
    }
    if (!is_known(known_, id)) {
      return make_error(
          ErrorKind::bad_input,
          fmt::format("'{}' was handed out by another run that is called {} as well: name another "
                      "folder, or remove the line if that run is gone",
                      id.text(), run_),
          folder_.requests_file().string());
    }
    Request* const request = find(id.call);
    if (request != nullptr && (request->hash == id.hash || request->whole_hash == id.hash)) {
      request->by_whole_hash = request->whole_hash == id.hash;
      request->attempt = std::max(request->attempt, id.attempt);
    }
  }
  return {};
}

Status BatchChat::read_folder() {
  if (responses_) {
    return {};
  }
  KP_LET(const BatchFolder::Content content, folder_.read());
  KP_TRY(check_open(content.open));
  KP_LET(responses_, read_batch_responses(folder_.directory(), run_, known_, content.runs));
  for (Request& request : requests_) {
    (void)look_up(request);
  }
  return {};
}

const BatchResponse* BatchChat::response_to(const Request& request, int attempt) const {
  BatchId id = id_of(request);
  id.attempt = attempt;
  for (const std::string& hash : {request.hash, request.whole_hash}) {
    id.hash = hash;
    if (const auto found = responses_->find(id.text()); found != responses_->end()) {
      return &found->second;
    }
  }
  return nullptr;
}

Chat::Tried BatchChat::look_up(Request& request) {
  for (int attempt = 1; attempt <= batch_attempts; ++attempt) {
    const BatchResponse* const response = response_to(request, attempt);
    if (response == nullptr) {
      continue;
    }
    if (response->answer) {
      request.open = false;
      request.failure.clear();
      return {.reply = {.answer = response->answer}, .failure = {}};
    }
    request.failure = response->failure;
    request.place = response->place;
    request.attempt = std::max(request.attempt, attempt + 1);
  }
  if (request.attempt <= batch_attempts) {
    return {};
  }
  request.open = false;
  return failed(
      make_error(ErrorKind::lost,
                 fmt::format("it was handed out {} times and failed each time, at last with: {}",
                             batch_attempts, request.failure)),
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
  if (asked.open) {
    renew(asked, body(request));
  }
  if (tried.reply.answer) {
    estimate_usage(request, *tried.reply.answer);
    if (listener) {
      listener(tried.reply.answer->text);
    }
  }
  return tried;
}

void BatchChat::renew(Request& request, const std::string& wanted) {
  std::string now = with_settings_of(request.body, wanted);
  if (now != request.body) {
    request.body = std::move(now);
    request.by_whole_hash = false;  // nobody could tell that hash again
  }
}

std::vector<std::string> BatchChat::remarks() {
  const std::lock_guard lock(mutex_);
  struct Seen {
    std::string place;
    int count = 0;
  };
  std::map<std::pair<int, std::string>, Seen> seen;  // by the next attempt and the reason
  for (const Request& request : requests_) {
    if (!request.failure.empty()) {
      Seen& one = seen[{std::min(request.attempt, batch_attempts + 1), request.failure}];
      ++one.count;
      one.place = one.place.empty() ? request.place : one.place;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [what, where] : seen) {
    const auto& [attempt, failure] = what;
    const bool one = where.count == 1;
    const std::string fate = attempt <= batch_attempts
                                 ? fmt::format("{} and {} asked again (attempt {} of {})",
                                               one ? "answer is an error" : "answers are errors",
                                               one ? "is" : "are", attempt, batch_attempts)
                                 : fmt::format("{} given up after {} attempts",
                                               one ? "request is" : "requests are", batch_attempts);
    texts.push_back(
        fmt::format("{} {}: {}: {}", where.count, fate, where.place, reason_text(failure)));
  }
  return texts;
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
