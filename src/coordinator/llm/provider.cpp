#include "coordinator/llm/provider.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "coordinator/llm/anthropic.hpp"
#include "coordinator/llm/api_key.hpp"
#include "coordinator/llm/base_url.hpp"
#include "coordinator/llm/http_chat.hpp"
#include "coordinator/llm/openai.hpp"
#include "coordinator/llm/role_llm.hpp"

namespace kernelpro {

std::span<const Provider> providers() {
  static constexpr std::array all = {Provider{.name = "anthropic",
                                              .argument = "MODEL",
                                              .dialect = anthropic_dialect,
                                              .url = anthropic_url,
                                              .key_variable = "ANTHROPIC_API_KEY",
                                              .openai_form = false},
                                     Provider{.name = "openai",
                                              .argument = "MODEL",
                                              .dialect = openai_dialect,
                                              .url = openai_url,
                                              .key_variable = "OPENAI_API_KEY",
                                              .key_optional = true},
                                     Provider{.name = batch_name,
                                              .argument = "DIR",
                                              .url = {},
                                              .key_variable = {},
                                              .outlives_process = true,
                                              .handed_out = true},
                                     Provider{.name = client_name,
                                              .argument = "NAME",
                                              .url = {},
                                              .key_variable = {},
                                              .outlives_process = true,
                                              .handed_out = true},
                                     Provider{.name = replay_name,
                                              .argument = "FILE",
                                              .url = {},
                                              .key_variable = {},
                                              .outlives_process = true}};
  return all;
}

const Provider* find_provider(std::string_view name) {
  const auto found = std::ranges::find(providers(), name, &Provider::name);
  return found == providers().end() ? nullptr : &*found;
}

const Provider* provider_of(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  return colon == std::string_view::npos ? nullptr : find_provider(spec.substr(0, colon));
}

std::string llm_forms() {
  std::string forms;
  for (const Provider& one : providers()) {
    if (!forms.empty()) {
      forms += &one == &providers().back() ? " or " : ", ";
    }
    forms += fmt::format("{}:{}", one.name, one.argument);
  }
  return forms;
}

std::string key_variables() {
  std::string names;
  for (const Provider& one : providers()) {
    if (!one.key_variable.empty()) {
      names += (names.empty() ? "" : " or ") + std::string(one.key_variable);
    }
  }
  return names;
}

Result<std::unique_ptr<Chat>> make_http_chat(const std::string& spec, const std::string& base_url,
                                             const std::string& key_file, double timeout_seconds) {
  const Provider* const provider = provider_of(spec);
  if (provider == nullptr || provider->dialect == nullptr || spec.ends_with(':')) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("no such model: \"{}\"; expected {}", spec, llm_forms()));
  }
  KP_LET(const BaseUrl base,
         parse_base_url(base_url.empty() ? std::string(provider->url) : base_url));
  KP_LET(ApiKey key, find_api_key(*provider, base, !base_url.empty(), key_file));
  return std::unique_ptr<Chat>(
      std::make_unique<HttpChat>(*provider, base, std::move(key), timeout_seconds));
}

}  // namespace kernelpro
