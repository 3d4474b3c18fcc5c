// Who answers: one row a provider, and models by the name of theirs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "coordinator/llm/base_url.hpp"
#include "coordinator/llm/chat.hpp"
#include "coordinator/llm/dialect.hpp"

namespace kernelpro {

struct Provider {
  std::string_view name;      // before the colon of "openai:MODEL"
  std::string_view argument;  // behind it, for messages: "MODEL"
  // Of those that are asked over HTTP; the others have none of it.
  std::unique_ptr<Dialect> (*dialect)(const BaseUrl& base) = nullptr;
  std::string_view url;           // their own
  std::string_view key_variable;  // of the environment
  bool key_optional = false;      // servers of others that speak its dialect mostly need no key
  bool openai_form = true;        // of the requests
  // Of those that go by files.
  bool outlives_process = false;  // a call goes on where an earlier process left it
  bool handed_out = false;        // somebody else asks: no process sees how long it takes
};

[[nodiscard]] std::span<const Provider> providers();
// By its name; nullptr: there is none.
[[nodiscard]] const Provider* find_provider(std::string_view name);
// Of "openai:MODEL".
[[nodiscard]] const Provider* provider_of(std::string_view spec);
// "anthropic:MODEL, openai:MODEL, batch:DIR, client:NAME or replay:FILE".
[[nodiscard]] std::string llm_forms();
// "ANTHROPIC_API_KEY or OPENAI_API_KEY": where keys are looked for.
[[nodiscard]] std::string key_variables();

// `spec`: "anthropic:MODEL" or "openai:MODEL". An empty base URL is the provider's own, an empty
// key file the environment. Nobody is asked yet: a key that is refused shows at the first call.
[[nodiscard]] Result<std::unique_ptr<Chat>> make_http_chat(const std::string& spec,
                                                           const std::string& base_url,
                                                           const std::string& key_file,
                                                           double timeout_seconds);

}  // namespace kernelpro
