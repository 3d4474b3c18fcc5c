// The key of a provider, from a file or the environment.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "coordinator/llm/provider.hpp"

namespace kernelpro {

struct ApiKey {
  std::string value;   // empty: none is sent
  std::string origin;  // for messages: "the key in FILE"; never the key
};

// With a file, its first line. Without, the provider's variable, but not over plain HTTP to another
// machine, where all between could read it. `given`: the base URL is the user's.
[[nodiscard]] Result<ApiKey> find_api_key(const Provider& provider, const BaseUrl& base, bool given,
                                          const std::string& key_file);

}  // namespace kernelpro
