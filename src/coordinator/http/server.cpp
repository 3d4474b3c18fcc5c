#include "coordinator/http/server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "coordinator/http/listen.hpp"

namespace kernelpro::http {

namespace {

constexpr int accept_pause_ms = 100;  // where the process may open no more files

}  // namespace

struct Server::Connection {
  Connection(UniqueFd fd, Limits limits) : socket(std::move(fd)), parser(limits) {}

  UniqueFd socket;
  Parser parser;
  std::shared_ptr<Exchange> exchange;  // being answered
  std::string out;
  std::size_t sent = 0;  // of `out`
  bool closing = false;  // when all is sent
  bool lingers = false;  // before that, what its client still sends is read and dropped
  bool closed = false;
  std::int64_t begun_ns = now_ns();  // of the request, or of the pause before it
  std::int64_t moved_ns = now_ns();  // when something was sent last

  [[nodiscard]] std::size_t unsent() const { return out.size() - sent; }
  // The next request may be looked at: whoever does not read is not answered ahead.
  [[nodiscard]] bool is_free() const { return exchange == nullptr && !closing && out.empty(); }
};

void Exchange::answer(const Response& response) {
  if (state_ != State::waiting) {
    return;
  }
  state_ = State::done;
  const bool has_body = request_.method != "HEAD" && response.status != 204;
  out_ += head_of(response, static_cast<long long>(response.body.size()), request_.keep_alive);
  if (has_body) {
    out_ += response.body;
  }
}

void Exchange::begin(const Response& head) {
  if (state_ != State::waiting) {
    return;
  }
  const bool chunks = request_.knows_chunks;
  request_.keep_alive = request_.keep_alive && chunks;
  state_ = request_.method == "HEAD" ? State::done : State::streaming;
  out_ += head_of(head, chunks ? in_chunks : until_closed, request_.keep_alive);
}

void Exchange::send(std::string_view piece) {
  if (state_ == State::streaming && !piece.empty() && !gone_) {
    out_ += request_.knows_chunks ? chunk_of(piece) : std::string(piece);
  }
}

void Exchange::end() {
  if (state_ == State::streaming) {
    state_ = State::done;
    out_ += request_.knows_chunks ? "0\r\n\r\n" : "";
  }
}

Server::Server(ServerSettings settings, UniqueFd listener, UniqueFd waker, int port)
    : settings_(std::move(settings)),
      listener_(std::move(listener)),
      waker_(std::move(waker)),
      port_(port) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(ServerSettings settings) {
  KP_LET(Listener listener, listen_at(settings.address, settings.port));
  UniqueFd waker(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!waker.valid()) {
    return errno_error("making an event");
  }
  return std::unique_ptr<Server>(
      new Server(std::move(settings), std::move(listener.socket), std::move(waker), listener.port));
}

void Server::wake() {
  const std::uint64_t one = 1;
  (void)(::write(waker_.get(), &one, sizeof one) < 0);
}

std::size_t Server::held_bytes() const {
  std::size_t bytes = 0;
  for (const auto& one : connections_) {
    bytes += one->parser.held_bytes();
  }
  return bytes;
}

std::size_t Server::unsent_bytes() const {
  std::size_t bytes = 0;
  for (const auto& one : connections_) {
    bytes += one->unsent();
  }
  return bytes;
}

void Server::accept_all() {
  for (;;) {
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) {
      // Whoever waits stays readable: without a pause we would ask for nothing else.
      const bool none_left = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
      accepts_ns_ = none_left ? now_ns() + accept_pause_ms * ns_per_ms : 0;
      return;
    }
    send_at_once(socket.get());
    auto one = std::make_unique<Connection>(std::move(socket), settings_.limits);
    if (connections_.size() >= settings_.most_connections) {
      refuse(*one, {503, "there are too many connections"});
    }
    connections_.push_back(std::move(one));
  }
}

void Server::refuse(Connection& one, const Refusal& refusal) {
  Response response{refusal.status, "application/json", error_body(refusal.why)};
  if (refusal.status == 503) {
    response.headers.push_back({"Retry-After", "5"});
  }
  one.out += head_of(response, static_cast<long long>(response.body.size()), false) + response.body;
  one.closing = true;
}

void Server::read_from(Connection& one, Handler& handler) {
  std::array<char, 65536> bytes;
  const ssize_t got = ::recv(one.socket.get(), bytes.data(), bytes.size(), 0);
  if (got <= 0) {  // whoever sends its last has left: no client of HTTP reads on
    one.closed = got == 0 || (errno != EAGAIN && errno != EINTR);
    return;
  }
  if (one.closing) {
    return;  // what is dropped was not asked for: the answer stands already
  }
  const bool begins = !one.parser.within();
  one.parser.add({bytes.data(), static_cast<std::size_t>(got)});
  advance(one, handler);
  if (begins && one.parser.within()) {  // empty lines begin nothing
    one.begun_ns = now_ns();
  }
}

void Server::advance(Connection& one, Handler& handler) {
  if (!one.is_free()) {
    return;
  }
  std::optional<Request> request = one.parser.next();
  if (const std::optional<Refusal>& refusal = one.parser.refusal(); refusal) {
    refuse(one, *refusal);
    one.lingers = true;
  } else if (request && unsent_bytes() > settings_.most_bytes) {
    refuse(one, {503, "too many answers wait for their clients"});
  } else if (request) {
    one.exchange = std::make_shared<Exchange>(std::move(*request));
    handler.take(one.exchange);
  } else if (held_bytes() > settings_.most_bytes) {
    refuse(one, {503, "too much is being sent at once"});
    one.lingers = true;
  } else if (one.parser.take_expects()) {
    one.out += "HTTP/1.1 100 Continue\r\n\r\n";
  }
}

// Takes over what the exchange has for its client.
void Server::collect(Connection& one) {
  if (one.exchange == nullptr) {
    return;
  }
  if (one.out.empty() && !one.exchange->out_.empty()) {
    one.moved_ns = now_ns();
  }
  one.out += std::exchange(one.exchange->out_, {});
  if (one.exchange->state_ == Exchange::State::done) {
    one.closing = one.closing || !one.exchange->request().keep_alive;
    one.exchange.reset();
    one.begun_ns = now_ns();
  }
}

void Server::write_to(Connection& one) {
  while (one.sent < one.out.size()) {
    const ssize_t wrote = ::send(one.socket.get(), one.out.data() + one.sent,
                                 one.out.size() - one.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote < 0) {
      one.closed = errno != EAGAIN && errno != EINTR;
      break;
    }
    one.sent += static_cast<std::size_t>(wrote);
    one.moved_ns = now_ns();
  }
  if (one.unsent() > 0) {
    return;
  }
  if (!one.out.empty()) {
    one.out.clear();
    one.sent = 0;
    one.begun_ns = now_ns();
    if (one.lingers) {
      ::shutdown(one.socket.get(), SHUT_WR);
    }
  }
  one.closed = one.closed || (one.closing && !one.lingers);
}

void Server::look_at_time(Connection& one) const {
  const std::int64_t now = now_ns();
  const auto late = [now](std::int64_t since, std::int64_t ms) {
    return now - since > ms * ns_per_ms;
  };
  if (one.unsent() > settings_.most_unsent && one.exchange != nullptr) {
    one.closed = true;  // a stream that is not read
  } else if (!one.out.empty()) {
    one.closed = one.closed || late(one.moved_ns, settings_.stall_ms);
  } else if (one.lingers) {
    one.closed = one.closed || late(one.begun_ns, settings_.request_ms);
  } else if (one.exchange == nullptr && one.parser.within()) {
    if (late(one.begun_ns, settings_.request_ms)) {
      refuse(one, {408, "the request did not come whole in time"});
    }
  } else if (one.exchange == nullptr) {
    one.closed = one.closed || late(one.begun_ns, settings_.idle_ms);
  }
}

std::vector<pollfd> Server::polled() const {
  const bool accepts = now_ns() >= accepts_ns_;
  std::vector<pollfd> list = {{listener_.get(), static_cast<short>(accepts ? POLLIN : 0), 0},
                              {waker_.get(), POLLIN, 0}};
  for (const auto& one : connections_) {
    // While a request is answered no other is read, but that its client leaves is seen.
    const bool reads = one->is_free() || one->closing || !one->parser.within();
    const int events = (reads ? POLLIN : 0) | (one->out.empty() ? 0 : POLLOUT) | POLLRDHUP;
    list.push_back({one->socket.get(), static_cast<short>(events), 0});
  }
  return list;
}

// Sends what there is, and goes on to requests that came with the last one. True: there may be more
// of them, of which no event will tell.
bool Server::serve(Connection& one, Handler& handler) {
  constexpr int most_at_once = 16;
  int requests = 0;
  for (; requests < most_at_once && !one.closed; ++requests) {
    collect(one);
    write_to(one);
    if (!one.is_free() || !one.parser.within()) {
      break;
    }
    advance(one, handler);
    if (one.exchange == nullptr) {
      break;
    }
  }
  look_at_time(one);
  if (one.closed && one.exchange != nullptr) {
    one.exchange->gone_ = true;
  }
  return requests == most_at_once;
}

void Server::run(Handler& handler, std::stop_token stop) {
  const std::stop_callback woken(stop, [this] { wake(); });
  constexpr int longest_pause_ms = 1000;  // so that those that are late are seen
  int pause_ms = 0;
  while (!stop.stop_requested()) {
    std::vector<pollfd> seen = polled();
    for (const int one : handler.watched()) {
      seen.push_back({one, POLLIN, 0});
    }
    const int longest = accepts_ns_ > now_ns() ? accept_pause_ms : longest_pause_ms;
    ::poll(seen.data(), seen.size(), std::clamp(pause_ms, 0, longest));
    std::uint64_t woken_times = 0;
    (void)(::read(waker_.get(), &woken_times, sizeof woken_times) < 0);
    std::size_t place = 2;
    for (const auto& one : connections_) {
      const int events = seen[place++].revents;
      one->closed = one->closed || (events & (POLLERR | POLLHUP | POLLNVAL)) != 0;
      if (!one->closed && (events & (POLLIN | POLLRDHUP)) != 0) {
        read_from(*one, handler);
      }
    }
    if (now_ns() >= accepts_ns_) {
      accept_all();
    }
    pause_ms = handler.tick();
    for (const auto& one : connections_) {
      pause_ms = serve(*one, handler) ? 0 : pause_ms;
    }
    std::erase_if(connections_, [](const auto& one) { return one->closed; });
  }
  for (const auto& one : connections_) {
    if (one->exchange != nullptr) {
      one->exchange->end();
      one->exchange->gone_ = true;
    }
    collect(*one);
    write_to(*one);
  }
}

}  // namespace kernelpro::http
