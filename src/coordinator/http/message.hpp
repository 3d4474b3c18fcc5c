// Requests and answers of HTTP/1.1 as values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpro::http {

struct Request {
  std::string method;
  std::string path;                            // decoded, without the query: "/v1/evaluate"
  std::map<std::string, std::string> query;    // decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool keep_alive = true;
  bool knows_chunks = true;  // of HTTP/1.1, not 1.0

  // Empty where it is not there.
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

struct Header {
  std::string name;
  std::string value;
};

struct Response {
  int status = 200;
  std::string type = "application/json";  // empty: there is no body
  std::string body;
  std::vector<Header> headers = {};  // NOLINT(readability-redundant-member-init)
};

// "Not Found"
[[nodiscard]] std::string_view reason_of(int status);

// How long the body of an answer is, where that is not known when it begins: it comes in chunks, or
// ends with the connection.
inline constexpr long long in_chunks = -1;
inline constexpr long long until_closed = -2;

// The head of an answer with a body of `length` bytes, or one of those above.
[[nodiscard]] std::string head_of(const Response& response, long long length, bool keep_alive);
// A piece of such an answer.
[[nodiscard]] std::string chunk_of(std::string_view piece);

// One event of a stream. A text of several lines stays one event; `id` may be empty.
[[nodiscard]] std::string event_of(const std::string& id, const std::string& name,
                                   std::string_view data);

}  // namespace kernelpro::http
