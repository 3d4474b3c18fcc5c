// Why a provider gave no answer, in words that say what to do.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "coordinator/llm/chat.hpp"
#include "coordinator/llm/http.hpp"

namespace kernelpro {

// Who was asked, for messages.
struct Asked {
  std::string url;
  std::string model;
  std::string key_origin;
};

// No whole answer came: end.outcome is not `finished`.
[[nodiscard]] ChatFailure transport_failure(const Asked& asked, const HttpEnd& end);

// An answer came with a status that is not 2xx.
[[nodiscard]] ChatFailure status_failure(const Asked& asked, const HttpHead& head,
                                         const std::string& body);

// An "error" object inside of a stream or of an answer with status 200.
[[nodiscard]] ChatFailure reported_failure(const nlohmann::json& error);

// The stream ended before the answer did.
[[nodiscard]] ChatFailure cut_failure(const Asked& asked);

// Something came that is no JSON, or not of the form it should have.
[[nodiscard]] ChatFailure malformed_failure(const Asked& asked, const std::string& why);

// What came is no answer of a model at all: `body` is shown by its first line.
[[nodiscard]] ChatFailure no_llm_failure(const Asked& asked, const HttpHead& head,
                                         const std::string& body);

}  // namespace kernelpro
