// Serves HTTP/1.1 on one thread: requests go to a handler, which answers now or later.
//
// No client holds a thread, however slow it is and however long it waits for its answer. A request
// that does not come whole in time is refused, one that takes its answer too slowly is left.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"
#include "coordinator/http/parser.hpp"

namespace kernelpro::http {

// A request that is being answered. Used on the server's thread alone.
class Exchange {
 public:
  explicit Exchange(Request request) : request_(std::move(request)) {}

  [[nodiscard]] const Request& request() const { return request_; }
  // The body, for whoever keeps the exchange longer and needs it no more.
  [[nodiscard]] std::string take_body() { return std::move(request_.body); }

  // The whole answer. Only the first one counts.
  void answer(const Response& response);
  // An answer in pieces, until `end`. A HEAD has none of them.
  void begin(const Response& head);
  void send(std::string_view piece);
  void end();

  [[nodiscard]] bool answered() const { return state_ != State::waiting; }
  [[nodiscard]] bool streaming() const { return state_ == State::streaming; }
  // The client has left: nobody takes what is sent.
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  friend class Server;
  enum class State { waiting, streaming, done };

  Request request_;
  State state_ = State::waiting;
  bool gone_ = false;
  std::string out_;  // not given to the connection yet
};

class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  virtual void take(const std::shared_ptr<Exchange>& exchange) = 0;
  // Called between requests; returns after how many milliseconds it wants to be called again.
  virtual int tick() = 0;
  // Descriptors that have it called at once when one is readable.
  [[nodiscard]] virtual std::vector<int> watched() const { return {}; }
};

struct ServerSettings {
  std::string address = "127.0.0.1";  // of IPv4 or IPv6
  int port = 0;                       // 0: any free one
  Limits limits = {};
  std::size_t most_connections = 1024;
  // Of requests that have not come whole, and of answers that their clients do not take.
  std::size_t most_bytes = std::size_t{64} << 20U;
  std::int64_t request_ms = 20'000;                 // that a request may take to come whole
  std::int64_t idle_ms = 75'000;                    // between two requests
  std::int64_t stall_ms = 20'000;                   // that an answer may wait for its client
  std::size_t most_unsent = std::size_t{4} << 20U;  // of a stream that is read too slowly
};

class Server {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Server>> listen(ServerSettings settings);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] int port() const { return port_; }

  // Until a stop is asked for; streams are ended then.
  void run(Handler& handler, std::stop_token stop);
  // From any thread: `tick` is called soon.
  void wake();

  [[nodiscard]] std::size_t connections() const { return connections_.size(); }

 private:
  struct Connection;

  Server(ServerSettings settings, UniqueFd listener, UniqueFd waker, int port);
  void accept_all();
  void read_from(Connection& one, Handler& handler);
  // Hands the next whole request on, if there is one and none is being answered.
  void advance(Connection& one, Handler& handler);
  static void refuse(Connection& one, const Refusal& refusal);
  static void collect(Connection& one);
  static void write_to(Connection& one);
  void look_at_time(Connection& one) const;
  bool serve(Connection& one, Handler& handler);
  [[nodiscard]] std::vector<pollfd> polled() const;
  [[nodiscard]] std::size_t held_bytes() const;
  [[nodiscard]] std::size_t unsent_bytes() const;

  ServerSettings settings_;
  UniqueFd listener_;
  UniqueFd waker_;
  int port_ = 0;
  std::int64_t accepts_ns_ = 0;  // from then on
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace kernelpro::http
