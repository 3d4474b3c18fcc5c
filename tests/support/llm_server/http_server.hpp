// A small HTTP server on this machine's loopback, by plain sockets, for tests.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/base/unique_fd.hpp"

namespace kernelpro::llm_server {

struct Seen {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// One connection while its request is answered. What cannot be sent, because nobody listens any
// more, is dropped.
class Wire {
 public:
  Wire(int socket, std::function<void()> wait) : socket_(socket), wait_(std::move(wait)) {}

  // A whole answer; headers as "name: value".
  void answer(int status, const std::string& content_type, std::string_view body,
              const std::vector<std::string>& headers = {});
  // An answer in chunks.
  void begin(int status, const std::string& content_type,
             const std::vector<std::string>& headers = {});
  void chunk(std::string_view piece);
  void end(const std::vector<std::string>& trailers = {});

  void raw(std::string_view bytes);
  void cut();         // the other side sees a reset
  void hang() const;  // until the server is stopped
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  int socket_;
  std::function<void()> wait_;
  bool whole_ = false;  // another request may follow on this connection
  bool gone_ = false;   // something could not be sent
};

using Handler = std::function<void(const Seen&, Wire&)>;

class HttpServer {
 public:
  // Listens on 127.0.0.1; port 0 is any free one. Ends the program if it cannot.
  explicit HttpServer(Handler handler, int port = 0);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::vector<Seen> seen() const;
  [[nodiscard]] int connections() const;

 private:
  struct Connection {
    UniqueFd socket;
    std::thread thread;
  };

  void accept_all();
  void serve(int socket);
  void wait_for_end();

  Handler handler_;
  UniqueFd listener_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::vector<Seen> seen_;
  std::list<Connection> connections_;
  std::thread acceptor_;
};

}  // namespace kernelpro::llm_server
