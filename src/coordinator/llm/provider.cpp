#include "coordinator/llm/provider.hpp"

#include <fmt/format.h>

#include "coordinator/llm/anthropic.hpp"
#include "coordinator/llm/api_key.hpp"
#include "coordinator/llm/base_url.hpp"
#include "coordinator/llm/http_chat.hpp"
#include "coordinator/llm/openai.hpp"

namespace kernelpro {

Result<std::unique_ptr<Chat>> make_http_chat(const std::string& spec, const std::string& base_url,
                                             const std::string& key_file, double timeout_seconds) {
  const std::size_t colon = spec.find(':');
  const std::string provider = spec.substr(0, colon);
  const bool anthropic = provider == "anthropic";
  if ((!anthropic && provider != "openai") || colon == std::string::npos ||
      colon + 1 == spec.size()) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("no such model: \"{}\"; expected anthropic:MODEL, openai:MODEL, batch:FOLDER "
                    "or replay:FILE",
                    spec));
  }
  const Result<BaseUrl> base = parse_base_url(
      base_url.empty() ? std::string(anthropic ? anthropic_url : openai_url) : base_url);
  if (!base) {
    return base.error();
  }
  Result<ApiKey> key = find_api_key(provider, *base, !base_url.empty(), key_file);
  if (!key) {
    return key.error();
  }
  return std::unique_ptr<Chat>(
      std::make_unique<HttpChat>(anthropic ? anthropic_dialect(*base) : openai_dialect(*base),
                                 std::move(*key), timeout_seconds));
}

}  // namespace kernelpro
