// OpenAI's chat completions, which many servers and gateways speak.
#pragma once

#include <memory>

#include "coordinator/llm/base_url.hpp"
#include "coordinator/llm/dialect.hpp"

namespace kernelpro {

inline constexpr std::string_view openai_url = "https://api.openai.com/v1";

// Asked is BASE/chat/completions. A base without a version in its path ("/v1", "/v1beta/openai")
// gets
// "/v1" first; one that ends with "/chat/completions" is taken as it is.
[[nodiscard]] std::unique_ptr<Dialect> openai_dialect(const BaseUrl& base);

}  // namespace kernelpro
