// How many tokens a request has: a bound to reserve by, and an estimate for people.
#pragma once

#include <cstdint>
#include <string_view>

#include "coordinator/llm/chat.hpp"

namespace kernelpro {

// No fewer than any tokenizer on bytes finds in the request: a token holds at least one byte of
// UTF-8. On top come margins for what providers write around messages and tools. JSON (schemas and
// arguments of tools) counts four times, as templates lay it out anew with white space.
[[nodiscard]] std::int64_t most_input_tokens(const ChatRequest& request);

// About 3.5 bytes a token, rounded up: what common tokenizers make of English and code.
[[nodiscard]] std::int64_t about_tokens(std::string_view text);
[[nodiscard]] std::int64_t about_input_tokens(const ChatRequest& request);
// What an answer has, its calls of tools included.
[[nodiscard]] std::int64_t about_output_tokens(const ChatAnswer& answer);

}  // namespace kernelpro
