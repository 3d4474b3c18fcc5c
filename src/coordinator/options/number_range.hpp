// Numbers on the command line, with words for what is none. For the files of this room only.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

namespace kernelpro {

// A number from `low` to `high`.
template <typename Number>
[[nodiscard]] CLI::Validator between(Number low, Number high) {
  CLI::Validator range = CLI::Range(low, high);
  return CLI::Validator(
      [low, high, range](std::string& text) {
        Number ignored{};
        if (!CLI::detail::lexical_cast(text, ignored)) {
          return fmt::format("expected a number from {} to {}, not \"{}\"", low, high, text);
        }
        const bool within = range(text).empty();
        return within ? std::string() : fmt::format("{} is not from {} to {}", text, low, high);
      },
      range.get_description());
}

}  // namespace kernelpro
