// What the headers of a request must say of its message.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "coordinator/http/message.hpp"

namespace kernelpro::mcp {

inline constexpr int header_mismatch = -32020;

// Whether it is of a revision without sessions.
[[nodiscard]] bool is_modern(const http::Request& request, const nlohmann::json& message);

// How the headers of a modern request differ from its message; empty: they do not.
[[nodiscard]] std::string header_complaint(const http::Request& request,
                                           const nlohmann::json& message);

// Whether the older revision knows that version; a request without the header is of 2025-03-26.
[[nodiscard]] bool is_known_version(const std::string& version);

// The status of an answer that is one message.
[[nodiscard]] int status_of(const nlohmann::json& answer, bool modern);

}  // namespace kernelpro::mcp
