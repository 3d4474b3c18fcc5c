// OpenAI's chat completions: a request as its body, and a whole body as an answer. Batches take the
// same form.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "common/base/result.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro {

// How the limit of an answer's tokens is called: newer models of OpenAI itself refuse the old name,
// other servers know only that.
inline constexpr std::string_view old_limit_name = "max_tokens";
inline constexpr std::string_view new_limit_name = "max_completion_tokens";

// Keys are sorted, so that equal requests give equal bytes. The form has no mark for a tool that
// failed: its text begins with "Error: ".
[[nodiscard]] nlohmann::json openai_body(const ChatRequest& request, bool stream,
                                         std::string_view limit_name = old_limit_name);

// Keys that are not known are passed over. `lost` where this is no completion; a body that holds an
// "error" instead gives its message.
[[nodiscard]] Result<ChatAnswer> answer_from_completion(const nlohmann::json& completion);

// A string, or parts of which those of type "text" count.
[[nodiscard]] std::string content_text(const nlohmann::json& content);

// Some servers give arguments as an object rather than as its text. Empty: none.
[[nodiscard]] std::string arguments_text(const nlohmann::json& function);

// Nothing where there are no numbers of tokens in it, or none that can be believed.
[[nodiscard]] std::optional<Usage> openai_usage(const nlohmann::json& usage);

// Of "finish_reason"; `calls`: whether tools are called, which not all servers say there.
[[nodiscard]] StopReason openai_stop_reason(std::string_view finish_reason, bool calls);

}  // namespace kernelpro
