// What files define, found by universal-ctags.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro::code {

struct Symbol {
  std::string name;
  std::string kind;   // "struct", "function", "macro" …
  std::string scope;  // "cutlass::PipelineTmaAsync"; empty: none
  std::int64_t line = 0;
  std::int64_t last = 0;  // its last line, where that is known; else `line`

  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// The program, where it is universal-ctags with JSON; nothing otherwise.
[[nodiscard]] std::optional<std::string> find_ctags();

inline constexpr const char* no_ctags =
    "universal-ctags is not installed (Debian: apt-get install universal-ctags), so no symbols are "
    "known; words are found all the same. Index again once it is there";

using SymbolsOfFiles = std::map<std::string, std::vector<Symbol>>;

// The symbols of `files`, seen from `folder`. Files that define nothing are not in the result.
[[nodiscard]] Result<SymbolsOfFiles> read_symbols(const std::string& ctags,
                                                  const std::filesystem::path& folder,
                                                  const std::vector<std::string>& files,
                                                  std::stop_token stop);

}  // namespace kernelpro::code
