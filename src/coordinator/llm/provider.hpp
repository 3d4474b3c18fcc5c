// Models by the name of their provider.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro {

// `spec`: "anthropic:MODEL" or "openai:MODEL". An empty base URL is the provider's own, an empty
// key file the environment. Nobody is asked yet: a key that is refused shows at the first call.
[[nodiscard]] Result<std::unique_ptr<Chat>> make_http_chat(const std::string& spec,
                                                           const std::string& base_url,
                                                           const std::string& key_file,
                                                           double timeout_seconds);

}  // namespace kernelpro
