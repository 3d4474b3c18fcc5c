// The JSON objects in a text that is something else besides.
#pragma once

#include <string>
#include <vector>

namespace kernelpro::agents {

// Every object of the text that is not inside another, as text and unchecked. An answer in C++ is
// full of braces: what does not begin with a key, behind comments at most, is none. Of a text of
// more than 8 MiB the end is looked at. Takes a time in proportion to the text, whatever it holds.
[[nodiscard]] std::vector<std::string> json_objects(const std::string& text);

}  // namespace kernelpro::agents
