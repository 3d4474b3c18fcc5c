// Where a provider is asked.
#pragma once

#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

struct BaseUrl {
  std::string text;  // without slashes at its end
  bool encrypted = false;
  bool loopback = false;  // on this machine
  std::string host;       // in lower case
  std::string path;       // "" or "/v1"
};

// "http://" or "https://", a host, and perhaps a port and a path; a user, a password or a query is
// refused, because a URL is kept and shown.
[[nodiscard]] Result<BaseUrl> parse_base_url(const std::string& text);

// Whether the host is this machine: localhost, 127.0.0.0/8, ::1. False for what is no URL.
[[nodiscard]] bool is_loopback_url(const std::string& url);

}  // namespace kernelpro
