// The frame of a page: one file that asks nobody for anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/html/markup.hpp"

namespace kernelpro::html {

struct Section {
  std::string id;
  std::string title;
  Markup content;
};

// A whole document. `sentence` comes first, then links to the sections that have content, and
// these. Its style and pictures are inside; it has no script, and its policy lets a browser load
// and run nothing.
[[nodiscard]] std::string page(const std::string& title, const std::string& sentence,
                               const std::vector<Section>& sections);

[[nodiscard]] Markup paragraph(std::string_view text);
[[nodiscard]] Markup note(std::string_view text);
[[nodiscard]] Markup heading(std::string_view text);  // within a section
// What is shown when it is asked for.
[[nodiscard]] Markup folded(std::string_view summary, const Markup& content);

using Rows = std::vector<std::vector<std::string>>;
// With an empty header: label and value. Columns of numbers are set to the right.
[[nodiscard]] Markup table(const std::vector<std::string>& header, const Rows& rows);
// A cell of a header; over numbers it is set to the right too.
[[nodiscard]] Markup head_cell(std::string_view text, bool numeric);
// The same with cells that are markup already; `ids` of rows, or none.
[[nodiscard]] Markup markup_table(const std::vector<Markup>& header,
                                  const std::vector<std::vector<Markup>>& rows,
                                  const std::vector<std::string>& ids);

}  // namespace kernelpro::html
