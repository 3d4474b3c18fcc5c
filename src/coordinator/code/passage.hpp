// The lines of a file that answer a question.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/code/question.hpp"

namespace kernelpro::code {

// Lines from 1, both ends included.
struct Lines {
  std::int64_t first = 1;
  std::int64_t last = 1;

  friend bool operator==(const Lines&, const Lines&) = default;
};

struct WeighedWord {
  std::vector<std::string> forms;
  double weight = 1;
};

// Where most of the words stand together, in at most `room` lines: the first such place. The first
// line where none of them stands.
[[nodiscard]] Lines best_lines(std::string_view text, const std::vector<WeighedWord>& words,
                               std::int64_t room);

// These lines of `text`, as far as it has them.
[[nodiscard]] std::string cut_lines(std::string_view text, Lines lines);
[[nodiscard]] std::int64_t count_lines(std::string_view text);

}  // namespace kernelpro::code
