// The form of messages: JSON-RPC 2.0 as MCP has it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kernelpro::mcp {

inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
inline constexpr int unsupported_version = -32022;

// No answer has more characters.
inline constexpr std::size_t most_characters = 30000;

// On one line; bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string line_of(const nlohmann::json& message);
// The same within the bound, whatever a client gave us to repeat.
[[nodiscard]] std::string bounded_line_of(nlohmann::json message);

// The id by which a request is answered, or the token of its progress: null where there is none,
// or one that we do not repeat, since it is too long or of a type that none has.
[[nodiscard]] nlohmann::json id_of(const nlohmann::json& message);
[[nodiscard]] nlohmann::json progress_token_of(const nlohmann::json& message);

[[nodiscard]] nlohmann::json result_message(const nlohmann::json& id, nlohmann::json result);
// `data` is left out where it is null; an id that could not be read is too.
[[nodiscard]] nlohmann::json error_message(const nlohmann::json& id, int code,
                                           const std::string& text, const nlohmann::json& data);
[[nodiscard]] nlohmann::json notification(const std::string& method, nlohmann::json params);

// What is wrong with a message that was parsed; empty: it is a request, a notification or a
// response.
[[nodiscard]] std::string message_complaint(const nlohmann::json& message);

// Cuts the longest texts and lists of `value`, saying so, until its line has at most `most`
// characters.
void bound(nlohmann::json& value, std::size_t most);

// The result of a tool call: the structure, and the same as text. Within the bound.
[[nodiscard]] nlohmann::json tool_result(nlohmann::json structure);
[[nodiscard]] nlohmann::json failed_tool_result(const std::string& why);

}  // namespace kernelpro::mcp
