// One request to a server on this machine, by a plain socket, and its whole answer.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "common/base/unique_fd.hpp"

namespace kernelpro::testing {

struct HttpAnswer {
  int status = 0;    // 0: nobody answered
  std::string head;  // with the line of the status
  std::string body;
};

inline UniqueFd connect_to(int port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    socket.reset();
  }
  return socket;
}

// Sends these bytes and reads until the server closes.
inline HttpAnswer exchange_bytes(int port, const std::string& bytes) {
  const UniqueFd socket = connect_to(port);
  HttpAnswer answer;
  if (!socket.valid() || ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) {
    return answer;
  }
  std::string all;
  std::array<char, 65536> piece;
  for (ssize_t got = 0; (got = ::recv(socket.get(), piece.data(), piece.size(), 0)) > 0;) {
    all.append(piece.data(), static_cast<std::size_t>(got));
  }
  const std::size_t end = all.find("\r\n\r\n");
  if (all.starts_with("HTTP/1.1 ") && end != std::string::npos) {
    answer.status = std::atoi(all.substr(9, 3).c_str());
    answer.head = all.substr(0, end + 2);
    answer.body = all.substr(end + 4);
  }
  return answer;
}

// Headers replace those that are sent anyway.
inline HttpAnswer http(int port, const std::string& method, const std::string& target,
                       const std::string& body = "",
                       const std::map<std::string, std::string>& headers = {}) {
  std::map<std::string, std::string> all = {{"Host", "localhost"},
                                            {"Connection", "close"},
                                            {"Accept", "application/json, text/event-stream"},
                                            {"Content-Type", "application/json"},
                                            {"Content-Length", std::to_string(body.size())}};
  for (const auto& [name, value] : headers) {
    all[name] = value;
  }
  std::string bytes = method + " " + target + " HTTP/1.1\r\n";
  for (const auto& [name, value] : all) {
    bytes += name + ": " + value + "\r\n";
  }
  return exchange_bytes(port, bytes + "\r\n" + body);
}

}  // namespace kernelpro::testing
