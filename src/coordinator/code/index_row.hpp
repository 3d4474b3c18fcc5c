// What the search sees of a file: words, weighted by where they stand. For the files of this room
// and their tests only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/code/symbols.hpp"

namespace kernelpro::code {

// Texts of words between blanks. The same file gives the same texts: they are needed again to take
// it out.
struct IndexRow {
  std::string path;
  std::string symbols;
  std::string body;
};

[[nodiscard]] IndexRow index_row(std::string_view path, const std::vector<Symbol>& symbols,
                                 std::string_view text);

}  // namespace kernelpro::code
