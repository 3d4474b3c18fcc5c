// A server on this machine's loopback, and clients that are sockets.
#pragma once

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "coordinator/http/server.hpp"

namespace kernelpro::http {

class Client {
 public:
  Client() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  explicit Client(int port) : Client() { connect(port); }

  void connect(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  void send(std::string_view bytes) {
    EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // As much of it as the server takes; false: it has closed.
  bool try_send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Until that text has come, or the server has closed.
  std::string read_until(const std::string& text) {
    std::array<char, 4096> bytes;
    while (all_.find(text) == std::string::npos) {
      const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (got <= 0) {
        break;
      }
      all_.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return all_;
  }
  // How many bytes come until the server closes.
  std::size_t count_all() {
    std::array<char, 65536> bytes;
    std::size_t count = 0;
    for (ssize_t got = 0; (got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0)) > 0;) {
      count += static_cast<std::size_t>(got);
    }
    return count;
  }
  std::string read_all() { return read_until("no text has this"); }
  void leave() { socket_.reset(); }

 private:
  UniqueFd socket_;
  std::string all_;
};

// Says what it was asked; keeps those who ask for /later, streams to those of /stream, and has much
// to say to those of /large.
class Echo : public Handler {
 public:
  void take(const std::shared_ptr<Exchange>& exchange) override {
    ++taken_;
    const std::string path = exchange->request().path;
    if (path == "/later") {
      later_.push_back(exchange);
    } else if (path == "/stream") {
      exchange->begin({200, "text/event-stream", ""});
      exchange->send("first\n");
      later_.push_back(exchange);
    } else if (path == "/large") {
      exchange->answer({200, "text/plain", std::string(large_bytes_, 'x')});
    } else {
      exchange->answer({200, "text/plain", path + " " + exchange->request().body});
    }
  }
  int tick() override {
    ++ticks_;
    std::erase_if(later_, [this](const auto& one) {
      left_ += one->gone() ? 1 : 0;
      if (release_ && !one->streaming()) {
        one->answer({200, "text/plain", "at last"});
      } else if (release_) {
        one->send("second\n");
        one->end();
      }
      return release_ || one->gone();
    });
    return pause_ms_;
  }

  std::atomic<bool> release_ = false;
  std::atomic<int> left_ = 0;
  std::atomic<int> ticks_ = 0;
  std::atomic<int> taken_ = 0;
  std::atomic<int> pause_ms_ = 5;
  std::atomic<std::size_t> large_bytes_ = 100'000;

 private:
  std::vector<std::shared_ptr<Exchange>> later_;
};

class ServerTest : public ::testing::Test {
 protected:
  void begin(ServerSettings settings = {}) {
    settings.limits = {.head = 2000, .body = 1000};
    Result<std::unique_ptr<Server>> made = Server::listen(settings);
    ASSERT_TRUE(made.ok()) << made.error().text();
    server_ = std::move(*made);
    thread_ = std::jthread([this](const std::stop_token& stop) { server_->run(echo_, stop); });
  }
  [[nodiscard]] int port() const { return server_->port(); }

  Echo echo_;
  std::unique_ptr<Server> server_;
  std::jthread thread_;  // ends before the others
};

}  // namespace kernelpro::http
