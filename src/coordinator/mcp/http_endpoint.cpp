#include "coordinator/mcp/http_endpoint.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/clock.hpp"
#include "common/base/secret.hpp"
#include "common/wire/json.hpp"
#include "coordinator/mcp/http_headers.hpp"
#include "coordinator/mcp/rpc.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

constexpr const char* session_header = "mcp-session-id";
constexpr std::size_t most_sessions = 1000;
constexpr std::size_t most_sessions_of_caller = 500;
constexpr std::int64_t silence_ns = 15'000 * ns_per_ms;
constexpr int busy_ms = 50;
constexpr int idle_ms = 1000;

void answer_message(http::Exchange& exchange, int status, const json& message,
                    std::vector<http::Header> headers = {}) {
  exchange.answer({status, "application/json", bounded_line_of(message), std::move(headers)});
}

bool accepts(const http::Request& request, const std::string& type) {
  const std::string accept = request.header("accept");
  return accept.empty() || accept.find(type) != std::string::npos ||
         accept.find("*/*") != std::string::npos;
}

}  // namespace

struct HttpEndpoint::Talk {
  struct Open {
    Exchange exchange;
    json id;
    json token;  // of its progress
    bool modern = false;
    std::string begun;  // the id of a session that its answer begins
    std::int64_t spoke_ns = 0;
  };

  std::string caller;
  std::int64_t used_ns = now_ns();
  std::vector<Open> open;
  std::unique_ptr<Session> session;

  // One message of the session, to whoever waits for it.
  void send(const std::string& line) {
    const json message = json::parse(line, nullptr, false);
    const bool is_answer = message.is_object() && !message.contains("method");
    const json token = message.contains("params") && message["params"].is_object()
                           ? message["params"].value("progressToken", json())
                           : json();
    const auto found = std::ranges::find_if(open, [&](const Open& one) {
      return is_answer ? one.id == id_of(message) : token.is_null() || one.token == token;
    });
    if (found == open.end()) {
      return;  // its client has left
    }
    if (!is_answer) {
      begin_stream(*found);
      found->exchange->send(http::event_of("", "message", line));
      return;
    }
    if (found->exchange->streaming()) {
      found->exchange->send(http::event_of("", "message", line));
      found->exchange->end();
    } else {
      std::vector<http::Header> headers;
      if (!found->begun.empty()) {
        headers.push_back({"Mcp-Session-Id", found->begun});
      }
      answer_message(*found->exchange, status_of(message, found->modern), message,
                     std::move(headers));
    }
    open.erase(found);
  }

  static void begin_stream(Open& one) {
    if (!one.exchange->answered()) {
      one.exchange->begin({200, "text/event-stream", "", {{"Cache-Control", "no-store"}}});
      one.spoke_ns = now_ns();
    }
  }

  // Those who are not answered at once get a stream, which says now and then that it lives.
  void keep_open() {
    for (Open& one : open) {
      begin_stream(one);
      if (now_ns() - one.spoke_ns > silence_ns) {
        one.spoke_ns = now_ns();
        one.exchange->send(": still here\n\n");
      }
    }
  }

  // Drops those whose client has left; of the newer revision that cancels what they asked for.
  void drop_gone() {
    std::vector<Open> gone;
    std::erase_if(open, [&](const Open& one) {
      if (one.exchange->gone()) {
        gone.push_back(one);
      }
      return one.exchange->gone();
    });
    for (const Open& one : gone) {
      if (one.modern) {
        session->take(line_of(notification("notifications/cancelled", {{"requestId", one.id}})));
      } else {
        session->forget(one.id);
      }
    }
  }

  // Nobody answers a request that its client has cancelled.
  void end_cancelled(const json& message) {
    if (message.value("method", "") != "notifications/cancelled" || !message.contains("params")) {
      return;
    }
    const json id = message["params"].value("requestId", json());
    const auto found = std::ranges::find(open, id, &Open::id);
    if (id.is_null() || found == open.end()) {
      return;
    }
    begin_stream(*found);
    found->exchange->end();
    open.erase(found);
  }

  // The session ends before they are answered.
  void close_all() {
    for (const Open& one : open) {
      one.exchange->end();
      answer_message(*one.exchange, 404,
                     error_message(one.id, invalid_request, "the session was ended", json()));
    }
    open.clear();
  }
};

HttpEndpoint::HttpEndpoint(SessionSettings settings) : settings_(std::move(settings)) {
  if (!settings_.launch) {
    settings_.launch = [this](const auto& folder) { return processes_.start(folder); };
  }
}

HttpEndpoint::~HttpEndpoint() = default;

std::unique_ptr<HttpEndpoint::Talk> HttpEndpoint::begin_talk(const http::Caller& caller) {
  auto talk = std::make_unique<Talk>();
  talk->caller = caller.name;
  SessionSettings settings = settings_;
  settings.remote = !caller.admin;
  settings.owner = caller.admin ? "" : caller.name;
  talk->session = std::make_unique<Session>(
      settings, [raw = talk.get()](const std::string& line) { raw->send(line); });
  return talk;
}

void HttpEndpoint::take(const Exchange& exchange, const http::Caller& caller) {
  const http::Request& request = exchange->request();
  if (request.method == "DELETE") {
    end_session(exchange, caller);
    return;
  }
  if (request.method != "POST") {
    exchange->answer({405, "", "", {{"Allow", "POST, DELETE"}}});
    return;
  }
  if (!accepts(request, "application/json") && !accepts(request, "text/event-stream")) {
    exchange->answer({406, "", ""});
    return;
  }
  const Result<json> message = parse_json(exchange->take_body());
  if (!message) {
    answer_message(*exchange, 400,
                   error_message(json(), parse_error, message.error().text(), json()));
  } else if (const std::string wrong = message_complaint(*message); !wrong.empty()) {
    answer_message(*exchange, 400, error_message(id_of(*message), invalid_request, wrong, json()));
  } else if (is_modern(request, *message)) {
    take_modern(exchange, caller, *message);
  } else {
    take_legacy(exchange, caller, *message);
  }
}

void HttpEndpoint::take_modern(const Exchange& exchange, const http::Caller& caller,
                               const json& message) {
  if (const std::string wrong = header_complaint(exchange->request(), message); !wrong.empty()) {
    answer_message(*exchange, 400, error_message(id_of(message), header_mismatch, wrong, json()));
    return;
  }
  std::unique_ptr<Talk> talk = begin_talk(caller);
  post(*talk, exchange, message);
  if (!talk->open.empty()) {
    lone_.push_back(std::move(talk));
  }
}

void HttpEndpoint::take_legacy(const Exchange& exchange, const http::Caller& caller,
                               const json& message) {
  if (!is_known_version(exchange->request().header("mcp-protocol-version"))) {
    answer_message(*exchange, 400,
                   error_message(id_of(message), invalid_request,
                                 "this version of the protocol is not spoken here", json()));
    return;
  }
  const std::string id = exchange->request().header(session_header);
  if (message.value("method", "") == "initialize" && id.empty() && !id_of(message).is_null()) {
    remove_oldest(caller);
    constexpr std::size_t id_digits = 32;
    const std::string fresh = key_text(secret_key()).substr(0, id_digits);
    Talk& talk = *sessions_.emplace(fresh, begin_talk(caller)).first->second;
    talk.open.push_back({exchange, id_of(message), json(), false, fresh});
    talk.session->take(line_of(message));
    return;
  }
  const auto found = sessions_.find(id);
  if (id.empty() || found == sessions_.end() || found->second->caller != caller.name) {
    answer_message(*exchange, id.empty() ? 400 : 404,
                   error_message(id_of(message), invalid_request,
                                 id.empty() ? "begin with initialize, and send the header "
                                              "Mcp-Session-Id of its answer from then on"
                                            : "there is no such session: begin anew",
                                 json()));
    return;
  }
  found->second->used_ns = now_ns();
  post(*found->second, exchange, message);
}

void HttpEndpoint::post(Talk& talk, const Exchange& exchange, const json& message) {
  const bool is_request = message.contains("method") && !id_of(message).is_null();
  const bool again = std::ranges::any_of(
      talk.open, [&](const Talk::Open& one) { return one.id == id_of(message); });
  if (is_request && again) {
    answer_message(*exchange, 400,
                   error_message(id_of(message), invalid_request,
                                 "a request of that id is not answered yet", json()));
    return;
  }
  if (is_request) {
    talk.open.push_back({exchange, id_of(message), progress_token_of(message),
                         is_modern(exchange->request(), message), ""});
  }
  talk.session->take(line_of(message));
  if (!is_request) {
    talk.end_cancelled(message);
    exchange->answer({202, "", ""});
  }
}

void HttpEndpoint::end_session(const Exchange& exchange, const http::Caller& caller) {
  const auto found = sessions_.find(exchange->request().header(session_header));
  const bool theirs = found != sessions_.end() && found->second->caller == caller.name;
  if (theirs) {
    found->second->close_all();
    sessions_.erase(found);
  }
  exchange->answer({theirs ? 204 : 404, "", ""});
}

// The caller's own session that was silent longest makes room, and that of others only where there
// are too many in all. Whoever waits for an answer is not silent.
void HttpEndpoint::remove_oldest(const http::Caller& caller) {
  std::vector<Sessions::iterator> all;
  std::vector<Sessions::iterator> own;
  for (auto one = sessions_.begin(); one != sessions_.end(); ++one) {
    all.push_back(one);
    if (one->second->caller == caller.name) {
      own.push_back(one);
    }
  }
  if (all.size() < most_sessions && own.size() < most_sessions_of_caller) {
    return;
  }
  const auto silence = [](const auto& one) {
    return std::pair(!one->second->open.empty(), one->second->used_ns);
  };
  const auto oldest = *std::ranges::min_element(own.empty() ? all : own, {}, silence);
  oldest->second->close_all();
  sessions_.erase(oldest);
}

int HttpEndpoint::tick() {
  processes_.reap();
  bool waits = false;
  const auto look_after = [&waits](Talk& talk) {
    talk.drop_gone();
    talk.session->tick();
    talk.keep_open();
    waits = waits || talk.session->waits();
  };
  for (const auto& [id, talk] : sessions_) {
    look_after(*talk);
  }
  for (const auto& talk : lone_) {
    look_after(*talk);
  }
  std::erase_if(lone_, [](const auto& talk) { return talk->open.empty(); });
  return waits ? busy_ms : idle_ms;
}

}  // namespace kernelpro::mcp
