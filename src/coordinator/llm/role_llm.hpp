// Which model a role asks.
#pragma once

#include <string>
#include <string_view>

#include "common/model/llm.hpp"

namespace kernelpro {

inline constexpr std::string_view batch_scheme = "batch:";
inline constexpr std::string_view batch_name = batch_scheme.substr(0, batch_scheme.size() - 1);
inline constexpr std::string_view replay_scheme = "replay:";
inline constexpr std::string_view replay_name = replay_scheme.substr(0, replay_scheme.size() - 1);
inline constexpr std::string_view client_scheme = "client:";
inline constexpr std::string_view client_name = client_scheme.substr(0, client_scheme.size() - 1);

// The role's own, else the run's: "anthropic:MODEL", "batch:DIR" …
[[nodiscard]] inline const std::string& llm_of(const LlmSettings& settings, LlmRole role) {
  const auto own = settings.roles.find(role);
  return own == settings.roles.end() || own->second.llm.empty() ? settings.llm : own->second.llm;
}

}  // namespace kernelpro
