// The key of a provider, from a file or the environment.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "coordinator/llm/base_url.hpp"

namespace kernelpro {

struct ApiKey {
  std::string value;   // empty: none is sent
  std::string origin;  // for messages: "the key in FILE"; never the key
};

// `provider` is "anthropic" or "openai". With a file, its first line. Without, ANTHROPIC_API_KEY or
// OPENAI_API_KEY, but not over plain HTTP to another machine, where all between could read it.
// `given`: the base URL is the user's: the servers that speak OpenAI's form mostly need no key.
[[nodiscard]] Result<ApiKey> find_api_key(const std::string& provider, const BaseUrl& base,
                                          bool given, const std::string& key_file);

}  // namespace kernelpro
