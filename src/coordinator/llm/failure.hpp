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
  std::string key;  // never shown: taken out of what others say before that is cut
};

// No whole answer came: end.outcome is not `finished`.
[[nodiscard]] ChatFailure transport_failure(const Asked& asked, const HttpEnd& end);

// An answer came with a status that is not 2xx.
[[nodiscard]] ChatFailure status_failure(const Asked& asked, const HttpHead& head,
                                         const std::string& body);

// An "error" inside of a stream.
[[nodiscard]] ChatFailure reported_failure(const Asked& asked, const nlohmann::json& error);

// An "error" in an answer with status 200 that has nothing else: where its code is a status, it
// counts as that.
[[nodiscard]] ChatFailure whole_failure(const Asked& asked, const HttpHead& head,
                                        const nlohmann::json& error);

// The data of an event of a stream that is called "error".
[[nodiscard]] ChatFailure event_failure(const Asked& asked, const std::string& data);

// The stream ended before the answer did.
[[nodiscard]] ChatFailure cut_failure(const Asked& asked);

// Something came that has not the form it should have.
[[nodiscard]] ChatFailure malformed_failure(const Asked& asked, const std::string& why);

// `text` came, which parse_json() does not take. It is read once more without the key, of which a
// message about it may show a part. `what`: "an event of the stream: " or nothing.
[[nodiscard]] ChatFailure not_json_failure(const Asked& asked, const std::string& what,
                                           const std::string& text);

// What came is no answer of a model at all: `body` is shown by its first line.
[[nodiscard]] ChatFailure no_llm_failure(const Asked& asked, const HttpHead& head,
                                         const std::string& body);

}  // namespace kernelpro
