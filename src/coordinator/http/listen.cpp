#include "coordinator/http/listen.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"

namespace kernelpro::http {

namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<Address> parse(const std::string& text, int port) {
  Address address;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(port));
    address.size = sizeof(sockaddr_in);
    return address;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(port));
    address.size = sizeof(sockaddr_in6);
    return address;
  }
  return make_error(ErrorKind::bad_input, "expected an address such as 127.0.0.1 or ::1", text);
}

}  // namespace

Result<Listener> listen_at(const std::string& text, int port) {
  KP_LET(Address address, parse(text, port));
  auto* const raw = reinterpret_cast<sockaddr*>(&address.storage);
  Listener listener;
  listener.socket =
      UniqueFd(::socket(raw->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(listener.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const std::string place = text + " port " + std::to_string(port);
  if (::bind(listener.socket.get(), raw, address.size) != 0 ||
      ::listen(listener.socket.get(), SOMAXCONN) != 0) {
    Error error = errno_error("listening at " + place);
    error.kind = ErrorKind::environment;
    return error;
  }
  ::getsockname(listener.socket.get(), raw, &address.size);
  listener.port =
      ntohs(raw->sa_family == AF_INET ? reinterpret_cast<sockaddr_in*>(raw)->sin_port
                                      : reinterpret_cast<sockaddr_in6*>(raw)->sin6_port);
  return listener;
}

void allow_open_files(unsigned long count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < count) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, count);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool is_loopback(const std::string& address) {
  const Result<Address> parsed = parse(address, 0);
  if (!parsed) {
    return false;
  }
  if (parsed->storage.ss_family == AF_INET6) {
    const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&parsed->storage);
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
  }
  constexpr std::uint32_t loopback_net = 127;
  const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&parsed->storage);
  return ntohl(v4->sin_addr.s_addr) >> 24U == loopback_net;
}

std::string error_body(const std::string& why) {
  return nlohmann::json{{"error", why}}.dump(-1, ' ', false,
                                             nlohmann::json::error_handler_t::replace);
}

}  // namespace kernelpro::http
