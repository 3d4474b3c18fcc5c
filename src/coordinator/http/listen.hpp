// Sockets that clients come to, and what may be said of an address.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro::http {

struct Listener {
  UniqueFd socket;
  int port = 0;
};

// An address of IPv4 or IPv6, as digits. Port 0 is any free one.
[[nodiscard]] Result<Listener> listen_at(const std::string& text, int port);

// Lets this process have that many files open, as far as the system allows it: connections are
// files, and systems give few unless they are asked.
void allow_open_files(unsigned long count);

// Small answers do not wait for more to come.
void send_at_once(int socket);

// "127.0.0.1", "::1": whoever comes there is on this machine. A name is none, however it begins.
[[nodiscard]] bool is_loopback(const std::string& address);

// {"error": "…"}
[[nodiscard]] std::string error_body(const std::string& why);

}  // namespace kernelpro::http
