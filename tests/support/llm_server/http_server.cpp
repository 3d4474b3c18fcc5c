#include "support/llm_server/http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace kernelpro::llm_server {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20U;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Sends all of it; false when the other side is gone.
bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Appends what comes next; false at the end.
bool receive_more(int socket, std::string& buffer) {
  std::array<char, 65536> bytes{};
  const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
  if (count <= 0 || buffer.size() > most_bytes) {
    return false;
  }
  buffer.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

Seen read_head(std::string_view head) {
  Seen seen;
  bool first = true;
  while (!head.empty()) {
    const std::string line(head.substr(0, head.find("\r\n")));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    if (first) {
      const std::size_t space = line.find(' ');
      seen.method = line.substr(0, space);
      seen.target = line.substr(space + 1, line.rfind(' ') - space - 1);
      first = false;
    } else if (const std::size_t colon = line.find(':'); colon != std::string::npos) {
      const std::size_t value = line.find_first_not_of(' ', colon + 1);
      seen.headers[lower_case(line.substr(0, colon))] =
          value == std::string::npos ? "" : line.substr(value);
    }
  }
  return seen;
}

std::size_t body_size(const Seen& seen) {
  std::size_t size = 0;
  const auto length = seen.headers.find("content-length");
  if (length != seen.headers.end()) {
    std::from_chars(length->second.data(), length->second.data() + length->second.size(), size);
  }
  return size;
}

// The next request; what follows it stays in `buffer`.
std::optional<Seen> receive_request(int socket, std::string& buffer) {
  std::size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!receive_more(socket, buffer)) {
      return std::nullopt;
    }
    if (buffer[0] < 'A' || buffer[0] > 'Z') {
      (void)send_all(socket, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
      return std::nullopt;
    }
  }
  Seen seen = read_head(std::string_view(buffer).substr(0, end));
  const std::size_t size = body_size(seen);
  buffer.erase(0, end + 4);
  while (buffer.size() < size) {
    if (!receive_more(socket, buffer)) {
      return std::nullopt;
    }
  }
  seen.body = buffer.substr(0, size);
  buffer.erase(0, size);
  return seen;
}

std::string head_text(int status, const std::string& content_type, const std::string& length,
                      const std::vector<std::string>& headers) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " Status\r\n";
  if (!content_type.empty()) {
    head += "Content-Type: " + content_type + "\r\n";
  }
  for (const std::string& header : headers) {
    head += header + "\r\n";
  }
  return head + length + "\r\n\r\n";
}

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::abort();
}

}  // namespace

void Wire::answer(int status, const std::string& content_type, std::string_view body,
                  const std::vector<std::string>& headers) {
  const std::string length = "Content-Length: " + std::to_string(body.size());
  raw(head_text(status, content_type, length, headers) += body);
  whole_ = true;
}

void Wire::begin(int status, const std::string& content_type,
                 const std::vector<std::string>& headers) {
  raw(head_text(status, content_type, "Transfer-Encoding: chunked", headers));
}

void Wire::chunk(std::string_view piece) {
  if (piece.empty()) {
    return;
  }
  std::array<char, 16> size{};
  const auto [end, error] = std::to_chars(size.data(), size.data() + size.size(), piece.size(), 16);
  std::string bytes(size.data(), end);
  bytes += "\r\n";
  bytes += piece;
  bytes += "\r\n";
  raw(bytes);
}

void Wire::end(const std::vector<std::string>& trailers) {
  std::string bytes = "0\r\n";
  for (const std::string& trailer : trailers) {
    bytes += trailer + "\r\n";
  }
  raw(bytes + "\r\n");
  whole_ = true;
}

void Wire::raw(std::string_view bytes) {
  gone_ = !send_all(socket_, bytes) || gone_;
}

void Wire::cut() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::shutdown(socket_, SHUT_RD);
}

void Wire::hang() const {
  wait_();
}

HttpServer::HttpServer(Handler handler, int port) : handler_(std::move(handler)) {
  listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), plain, sizeof address) != 0 || ::listen(listener_.get(), 128) != 0) {
    give_up("cannot listen on 127.0.0.1");
  }
  socklen_t size = sizeof address;
  getsockname(listener_.get(), plain, &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

HttpServer::~HttpServer() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    for (const Connection& connection : connections_) {
      if (connection.socket.valid()) {
        ::shutdown(connection.socket.get(), SHUT_RDWR);
      }
    }
  }
  changed_.notify_all();
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  for (Connection& connection : connections_) {
    connection.thread.join();
  }
}

void HttpServer::accept_all() {
  while (true) {
    const int socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    const std::scoped_lock lock(mutex_);
    if (socket < 0 || ending_) {
      if (socket >= 0) {
        ::close(socket);
      }
      return;
    }
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    Connection& connection = connections_.emplace_back();
    connection.socket.reset(socket);
    connection.thread = std::thread([this, socket, &connection] {
      serve(socket);
      const std::scoped_lock closing(mutex_);
      connection.socket.reset();
    });
  }
}

void HttpServer::serve(int socket) {
  std::string buffer;
  while (std::optional<Seen> request = receive_request(socket, buffer)) {
    {
      const std::scoped_lock lock(mutex_);
      seen_.push_back(*request);
    }
    Wire wire(socket, [this] { wait_for_end(); });
    handler_(*request, wire);
    const auto connection = request->headers.find("connection");
    const bool last =
        connection != request->headers.end() && lower_case(connection->second) == "close";
    if (!wire.whole() || last) {
      return;
    }
  }
}

void HttpServer::wait_for_end() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ending_; });
}

std::vector<Seen> HttpServer::seen() const {
  const std::scoped_lock lock(mutex_);
  return seen_;
}

int HttpServer::connections() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int>(connections_.size());
}

}  // namespace kernelpro::llm_server
