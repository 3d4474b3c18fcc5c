// Pieces of Markdown.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

// A table; what would end a cell is escaped.
[[nodiscard]] std::string markdown_table(const std::vector<std::string>& header,
                                         const std::vector<std::vector<std::string>>& rows);

}  // namespace kernelpro
