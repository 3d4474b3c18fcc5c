#include "coordinator/http/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/text.hpp"
#include "coordinator/http/listen.hpp"

namespace kernelpro::http {

namespace {

constexpr std::size_t shortest_token = 16;

// "localhost:8086" without its port, "[::1]:8086" without that and the brackets; lower case. Empty:
// it has another form.
std::string host_without_port(std::string host) {
  std::ranges::transform(host, host.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  const bool bracketed = host.starts_with('[');
  const std::size_t end = bracketed ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == std::string::npos) {
    return "";
  }
  const std::string_view port = std::string_view(host).substr(end + (bracketed ? 1 : 0));
  if (!port.empty() && (port[0] != ':' || !std::ranges::all_of(port.substr(1), is_digit))) {
    return "";
  }
  return bracketed ? host.substr(1, end - 1) : host.substr(0, end);
}

// The host of "https://host:port"; empty: it is none.
std::string host_of_origin(const std::string& origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) {
      return host_without_port(origin.substr(scheme.size()));
    }
  }
  return "";
}

// In a time that says nothing of where they differ.
bool equal_hashes(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned>(a[i] ^ b[i]);
  }
  return difference == 0;
}

}  // namespace

Result<std::vector<Token>> read_tokens(const std::filesystem::path& file) {
  KP_LET(const std::string text, read_file(file));
  std::vector<Token> tokens;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (trimmed(line).empty() || trimmed(line).starts_with('#')) {
      continue;
    }
    std::istringstream words(line);
    std::string name;
    std::string token;
    std::string right;
    std::string more;
    words >> name >> token >> right >> more;
    if (token.size() < shortest_token || (!right.empty() && right != "admin") || !more.empty()) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("expected NAME TOKEN, or NAME TOKEN admin; a token has at "
                                    "least {} characters",
                                    shortest_token),
                        fmt::format("{}:{}", file.string(), number));
    }
    tokens.push_back({sha256(token), {name, right == "admin"}});
  }
  if (tokens.empty()) {
    return make_error(ErrorKind::bad_input, "there is no token in it", file.string());
  }
  return tokens;
}

Gate::Gate(const std::string& address, std::vector<std::string> names, std::vector<Token> tokens)
    : names_(std::move(names)), tokens_(std::move(tokens)) {
  any_name_ = (address == "0.0.0.0" || address == "::") && names_.empty() && !tokens_.empty();
  names_.insert(names_.end(), {address, "localhost"});
}

bool Gate::is_ours(const std::string& host) const {
  return any_name_ || is_loopback(host) || std::ranges::find(names_, host) != names_.end();
}

std::optional<Refusal> Gate::refused(const Request& request) const {
  if (!is_ours(host_without_port(request.header("host")))) {
    return Refusal{403, "this host is not served here; --host NAME of `kernelpro serve` adds one"};
  }
  const std::string origin = request.header("origin");
  const std::string host = host_of_origin(origin);
  const bool ours = is_loopback(host) || std::ranges::find(names_, host) != names_.end();
  if (!origin.empty() && !ours) {
    return Refusal{403, "pages of another origin may not ask"};
  }
  return std::nullopt;
}

std::variant<Caller, Refusal> Gate::caller_of(const Request& request) const {
  if (tokens_.empty()) {
    return Caller{"local", false};
  }
  constexpr std::string_view scheme = "bearer ";
  std::string given = request.header("authorization");
  std::string kind = given.substr(0, scheme.size());
  std::ranges::transform(kind, kind.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  const std::string hash = kind == scheme ? sha256(trimmed(given.substr(scheme.size()))) : "";
  std::optional<Caller> found;
  for (const Token& token : tokens_) {
    if (equal_hashes(token.hash, hash)) {
      found = token.caller;
    }
  }
  if (!found) {
    return Refusal{401, "expected `Authorization: Bearer TOKEN` with a token that is known here"};
  }
  return *found;
}

}  // namespace kernelpro::http
