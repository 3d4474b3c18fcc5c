// What somebody asks, as words that an index knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelpro::code {

struct AskedWord {
  // Any of these will do: the word, and what it makes together with its neighbor, because
  // `warp specialized` may be one word in code.
  std::vector<std::string> forms;
  // A whole identifier beside its parts: good to find, but a file that has the parts answers too.
  bool extra = false;
};

// Fillers are left out, unless there is nothing else. Each word once.
[[nodiscard]] std::vector<AskedWord> asked_words(std::string_view question);

}  // namespace kernelpro::code
