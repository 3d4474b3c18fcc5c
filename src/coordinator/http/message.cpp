#include "coordinator/http/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kernelpro::http {

namespace {

constexpr std::array<std::pair<int, std::string_view>, 23> reasons = {{
    {100, "Continue"},
    {200, "OK"},
    {202, "Accepted"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
}};

// What ends a line would begin a header of somebody else's.
std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char letter) { return letter == '\r' || letter == '\n'; }, ' ');
  return text;
}

}  // namespace

std::string_view reason_of(int status) {
  const auto* const found =
      std::ranges::find(reasons, status, [](const auto& one) { return one.first; });
  return found == reasons.end() ? "Unknown" : found->second;
}

std::string head_of(const Response& response, long long length, bool keep_alive) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  if (!response.type.empty()) {
    head += "Content-Type: " + response.type + "\r\n";
  }
  constexpr int no_content = 204;
  if (length == in_chunks) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (length >= 0 && response.status != no_content) {
    head += fmt::format("Content-Length: {}\r\n", length);
  }
  for (const Header& header : response.headers) {
    head += header.name + ": " + one_line(header.value) + "\r\n";
  }
  head += "X-Content-Type-Options: nosniff\r\n";
  return head + (keep_alive ? "\r\n" : "Connection: close\r\n\r\n");
}

std::string chunk_of(std::string_view piece) {
  return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

std::string event_of(const std::string& id, const std::string& name, std::string_view data) {
  std::string event = id.empty() ? "" : "id: " + id + "\n";
  if (!name.empty()) {
    event += "event: " + name + "\n";
  }
  for (;;) {
    const std::size_t end = data.find('\n');
    event += fmt::format("data: {}\n", data.substr(0, end));
    if (end == std::string_view::npos) {
      return event + "\n";
    }
    data.remove_prefix(end + 1);
  }
}

}  // namespace kernelpro::http
