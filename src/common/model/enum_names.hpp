// Enumerators by name: a table indexed by the enumerator.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace kernelpro {

template <typename Enum, std::size_t N>
[[nodiscard]] std::string_view enum_name(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

template <typename Enum, std::size_t N>
[[nodiscard]] std::optional<Enum> find_enum(const std::array<std::string_view, N>& names,
                                            std::string_view name) {
  const auto* found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt
                              : std::optional(static_cast<Enum>(found - names.begin()));
}

}  // namespace kernelpro
