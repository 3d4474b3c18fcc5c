#include "coordinator/mcp/http_headers.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "coordinator/mcp/rpc.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

constexpr const char* version_header = "mcp-protocol-version";
constexpr const char* version_in_meta = "io.modelcontextprotocol/protocolVersion";

json part(const json& value, const char* key) {
  return value.is_object() ? value.value(key, json()) : json();
}

json version_of(const json& message) {
  return part(part(part(message, "params"), "_meta"), version_in_meta);
}

std::string from_base64(const std::string& text) {
  static constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char letter : text) {
    const std::size_t value = letters.find(letter);
    if (value == std::string_view::npos) {
      break;
    }
    bits = (bits << 6U) | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
    }
  }
  return out;
}

// Values that headers cannot carry as they are stand as =?base64?…?=.
std::string plain_value(const std::string& header) {
  constexpr std::string_view begin = "=?base64?";
  constexpr std::string_view end = "?=";
  if (!header.starts_with(begin) || !header.ends_with(end)) {
    return header;
  }
  return from_base64(header.substr(begin.size(), header.size() - begin.size() - end.size()));
}

// What Mcp-Name has to repeat; nothing: this method has no such thing.
std::optional<std::string> name_of_message(const json& message) {
  const std::string method = message.value("method", "");
  const json params = part(message, "params");
  json name;
  if (method == "tools/call" || method == "prompts/get") {
    name = part(params, "name");
  } else if (method == "resources/read") {
    name = part(params, "uri");
  } else if (method.starts_with("tasks/")) {
    name = part(params, "taskId");
  }
  return name.is_string() ? std::optional(name.get<std::string>()) : std::nullopt;
}

}  // namespace

bool is_known_version(const std::string& version) {
  constexpr std::string_view known[] = {"", "2025-03-26", "2025-06-18", "2025-11-25"};
  return std::ranges::find(known, version) != std::end(known);
}

bool is_modern(const http::Request& request, const json& message) {
  const std::string header = request.header(version_header);
  const json inner = version_of(message);
  return !inner.is_null() ||
         (!is_known_version(header) && !request.headers.contains("mcp-session-id"));
}

std::string header_complaint(const http::Request& request, const json& message) {
  const json version = version_of(message);
  if (version.is_string() && request.header(version_header) != version.get<std::string>()) {
    return "the header MCP-Protocol-Version is not what the message says";
  }
  if (!version.is_string()) {
    // Others are refused for what they are. These two would be taken for the older revision's.
    const std::string method = message.value("method", "");
    return method == "initialize" || method == "ping"
               ? "the header MCP-Protocol-Version names no revision of which the message is"
               : "";
  }
  if (message.contains("method") &&
      request.header("mcp-method") != message["method"].get<std::string>()) {
    return "the header Mcp-Method is not the method of the message";
  }
  if (const std::optional<std::string> name = name_of_message(message);
      name && plain_value(request.header("mcp-name")) != *name) {
    return "the header Mcp-Name is not the name in the message";
  }
  return "";
}

int status_of(const json& answer, bool modern) {
  const json error = part(answer, "error");
  const int code = error.is_object() ? error.value("code", 0) : 0;
  if (code == parse_error || code == invalid_request) {
    return 400;
  }
  if (!modern || code == 0) {
    return 200;
  }
  if (code == method_not_found) {
    return 404;
  }
  return code == internal_error ? 500 : 400;
}

}  // namespace kernelpro::mcp
