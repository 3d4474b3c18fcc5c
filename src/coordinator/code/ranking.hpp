// Which file answers a question best.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "coordinator/code/file_kind.hpp"

namespace kernelpro::code {

// Where one word of a question stands.
struct WordMatches {
  bool extra = false;                               // as AskedWord
  std::unordered_map<std::int64_t, double> scores;  // by file; more is better
};

struct RankedFile {
  std::int64_t file = 0;
  double score = 0;
};

// How rare a word is that stands in `matches` of `files` files: 0 for one that is in all.
[[nodiscard]] double rarity(std::size_t matches, std::size_t files);

// The best first. A file that has few of the words, or only the common ones, comes late; examples
// come before sources, sources before internals, tests and scripts last.
[[nodiscard]] std::vector<RankedFile> rank_files(
    const std::vector<WordMatches>& words, const std::unordered_map<std::int64_t, FileKind>& kinds);

}  // namespace kernelpro::code
