#include "coordinator/llm/http_chat.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/text.hpp"
#include "common/wire/json.hpp"
#include "coordinator/llm/failure.hpp"
#include "coordinator/llm/json_parts.hpp"
#include "coordinator/llm/redact.hpp"
#include "coordinator/llm/sse.hpp"

namespace kernelpro {
namespace {

// Of an answer that only says why there is none.
constexpr std::size_t longest_complaint = std::size_t{1} << 20U;

bool is_success(const HttpHead& head) {
  return head.status >= 200 && head.status < 300;
}

bool is_stream(const HttpHead& head) {
  return is_success(head) && head.content_type == "text/event-stream";
}

// Some stream under another type, or none.
bool looks_streamed(const HttpHead& head, std::string_view begin) {
  return is_success(head) &&
         (begin.starts_with("data:") || begin.starts_with("event:") || begin.starts_with(':'));
}

Chat::Tried failed(ChatFailure failure) {
  Chat::Tried tried;
  tried.failure = std::move(failure);
  return tried;
}

Chat::Tried answered(ChatAnswer answer) {
  Chat::Tried tried;
  tried.reply.answer = std::move(answer);
  return tried;
}

// What comes back for one request.
class Receiving {
 public:
  Receiving(const Dialect& dialect, Asked asked, const TextListener& listener)
      : dialect_(&dialect),
        asked_(std::move(asked)),
        stream_(dialect.read_stream(asked_, listener)) {}

  HttpTake take(const HttpHead& head, std::string_view piece) {
    streams_ = streams_ || is_stream(head);
    if (streams_) {
      return take_stream(piece);
    }
    if (is_success(head) || body_.size() < longest_complaint) {
      body_ += piece;
    }
    if (looks_streamed(head, body_)) {
      streams_ = true;
      return take_stream(std::exchange(body_, {}));
    }
    // Some send blanks while they work.
    return trimmed(piece).empty() && trimmed(body_).empty() ? HttpTake::early : HttpTake::more;
  }

  [[nodiscard]] Chat::Tried result(const HttpEnd& end) {
    if (failure_) {
      return failed(std::move(*failure_));
    }
    if (streams_ || is_stream(end.head)) {
      return stream_result(end);
    }
    if (end.head.status != 0 && !is_success(end.head) && end.outcome != HttpOutcome::stopped) {
      return failed(status_failure(asked_, end.head, body_));
    }
    if (end.outcome != HttpOutcome::finished) {
      return failed(transport_failure(asked_, end));
    }
    return whole_result(end.head);
  }

  // All of it, where it was no stream.
  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  HttpTake take_stream(std::string_view piece) {
    const Result<std::vector<SseEvent>> events = parser_.feed(piece);
    if (!events) {
      failure_ = malformed_failure(asked_, events.error().text());
      return HttpTake::end;
    }
    for (const SseEvent& event : *events) {
      if (stream_->ended()) {
        break;  // the answer is whole: what is said behind it does not matter
      }
      if (trimmed(event.data).empty()) {
        continue;
      }
      failure_ = event.name == "error" ? event_failure(asked_, event.data) : stream_->take(event);
      if (failure_) {
        return HttpTake::end;
      }
    }
    if (stream_->ended()) {
      return HttpTake::last;
    }
    return stream_->begun() ? HttpTake::more : HttpTake::early;
  }

  // An answer that is whole counts, however its connection ended.
  Chat::Tried stream_result(const HttpEnd& end) {
    if (std::optional<ChatAnswer> answer = stream_->answer()) {
      return answered(std::move(*answer));
    }
    return failed(end.outcome == HttpOutcome::finished ? cut_failure(asked_)
                                                       : transport_failure(asked_, end));
  }

  // Servers that do not stream answer in one piece.
  Chat::Tried whole_result(const HttpHead& head) {
    const Result<nlohmann::json> parsed = parse_json(body_);
    if (!parsed && head.content_type == "application/json") {
      return failed(not_json_failure(asked_, "", body_));
    }
    if (parsed && !part(*parsed, "error").is_null()) {
      return failed(whole_failure(asked_, head, part(*parsed, "error")));
    }
    Result<ChatAnswer> answer =
        parsed ? dialect_->read_whole(*parsed) : Result<ChatAnswer>(parsed.error());
    if (!answer) {
      return failed(no_llm_failure(asked_, head, body_));
    }
    return answered(std::move(*answer));
  }

  const Dialect* dialect_;
  Asked asked_;
  std::unique_ptr<StreamReader> stream_;
  SseParser parser_;
  std::string body_;
  bool streams_ = false;
  std::optional<ChatFailure> failure_;
};

void redact(Chat::Tried& tried, const std::string& key) {
  const auto clean = [&key](std::string& text) { text = redacted(std::move(text), key); };
  if (tried.failure) {
    clean(tried.failure->error.message);
    clean(tried.failure->error.context);
  }
  if (tried.reply.answer) {
    clean(tried.reply.answer->text);
    clean(tried.reply.answer->model);
    for (ToolCall& call : tried.reply.answer->calls) {
      clean(call.id);
      clean(call.name);
      clean(call.arguments);
    }
  }
}

}  // namespace

HttpChat::Posted HttpChat::post(const ChatRequest& request, const std::string& body,
                                const TextListener& listener, const std::stop_token& stop) {
  Redactor redactor(key_.value);
  const auto tell = [&listener](const std::string& text) {
    if (listener && !text.empty()) {
      listener(text);
    }
  };
  HttpPost post;
  post.url = dialect_->url();
  post.headers = dialect_->headers(key_.value);
  post.headers.emplace_back("Content-Type: application/json");
  post.headers.emplace_back("Accept: text/event-stream, application/json");
  post.body = body;
  post.timeout_seconds = timeout_seconds_;
  post.stall_seconds = stall_seconds_;
  Receiving receiving(*dialect_, {post.url, request.model, key_.origin, key_.value},
                      [&](const std::string& text) { tell(redactor.feed(text)); });
  const HttpEnd end = client_.post(
      post,
      [&receiving](const HttpHead& head, std::string_view piece) {
        return receiving.take(head, piece);
      },
      stop);
  tell(redactor.finish());
  Posted posted{
      .tried = receiving.result(end), .status = end.head.status, .said = receiving.body()};
  redact(posted.tried, key_.value);
  return posted;
}

Chat::Tried HttpChat::try_once(const std::string& /*id*/, const ChatRequest& request,
                               const TextListener& listener, std::stop_token stop) {
  const std::string whole = dialect_->body(request);
  std::unique_lock lock(mutex_);
  LeftOut left_out = left_out_;
  lock.unlock();
  while (true) {
    const std::string body = body_without(left_out, whole);
    Posted posted = post(request, body, listener, stop);
    if (const auto more = leave_out_next(left_out, body, posted.status, posted.said)) {
      left_out = *more;
      continue;
    }
    if (posted.tried.reply.answer) {
      lock.lock();
      left_out_ = both(left_out_, left_out);
    }
    return std::move(posted.tried);
  }
}

}  // namespace kernelpro
