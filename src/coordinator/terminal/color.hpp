// Color for people at a terminal, and for nobody else.
#pragma once

#include <string>
#include <string_view>

namespace kernelpro {

enum class Paint { heading, good, bad, warning };

// Whether color may go to that file: it is a terminal, TERM is not "dumb", and NO_COLOR is empty or
// not set (no-color.org). FORCE_COLOR, not empty and not "0", makes it so wherever it goes, unless
// NO_COLOR says otherwise.
[[nodiscard]] bool color_wanted(int file);

// `text`, painted where color may go to that file, else as it is.
[[nodiscard]] std::string painted(std::string_view text, Paint paint, int file);

// Columns of the terminal behind that file, within reason; 100 where it is none.
[[nodiscard]] int text_width(int file);

}  // namespace kernelpro
