// Anthropic's Messages API.
#pragma once

#include <memory>

#include "coordinator/llm/base_url.hpp"
#include "coordinator/llm/dialect.hpp"

namespace kernelpro {

inline constexpr std::string_view anthropic_url = "https://api.anthropic.com";

// Asked is BASE/v1/messages; a base that ends with "/v1" or "/messages" has that part already.
//
// The system prompt is put into the provider's cache, and with tools the last message of the user
// too: the turns that follow send all of it again.
[[nodiscard]] std::unique_ptr<Dialect> anthropic_dialect(const BaseUrl& base);

}  // namespace kernelpro
