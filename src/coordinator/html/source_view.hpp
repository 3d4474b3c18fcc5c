// Source text on a page: what changed, and the lines that findings point at.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coordinator/html/markup.hpp"

namespace kernelpro::html {

// A unified diff, each line marked by what it is.
[[nodiscard]] Markup diff_view(const std::string& diff);

// The marked lines of a source with a few around each; what is said of a line stands behind it.
// Lines that the source does not have are left out; empty when none is left.
[[nodiscard]] Markup marked_lines(const std::string& source,
                                  const std::map<int, std::string>& marks);

// A line that is known by itself.
struct KnownLine {
  std::string place;  // "scale.cu:12"
  std::string text;
  std::string said;  // "620 samples, 78 %"
  bool marked = false;
};
[[nodiscard]] Markup known_lines(const std::vector<KnownLine>& lines);

}  // namespace kernelpro::html
