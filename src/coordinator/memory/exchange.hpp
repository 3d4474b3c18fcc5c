// Lessons as a file of JSON lines, to carry them elsewhere.
//
//   {"format": "kernelpro lessons", "v": 1}
//   {"lesson": {…}}
//   {"fact": {…}}
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/lesson.hpp"

namespace kernelpro::memory {

struct Exchanged {
  std::vector<Lesson> lessons;
  std::vector<LearnedFact> facts;
};

[[nodiscard]] std::string to_lines(const Exchanged& content);

// `file` is named in errors: file, line, what was expected. One bad line refuses the whole file.
[[nodiscard]] Result<Exchanged> from_lines(const std::string& text, const std::string& file);

}  // namespace kernelpro::memory
