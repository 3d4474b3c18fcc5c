#include "coordinator/code/ranking.hpp"

#include <algorithm>
#include <cmath>

namespace kernelpro::code {

namespace {

double factor_of(FileKind kind) {
  switch (kind) {
    case FileKind::example:
      return 1.25;
    case FileKind::source:
    case FileKind::document:
      return 1.0;
    case FileKind::internal:
      return 0.8;
    case FileKind::test:
    case FileKind::script:
      return 0.5;
  }
  return 1.0;
}

struct Standing {
  double score = 0;
  double covered = 0;  // rarity of the words that it has
};

}  // namespace

double rarity(std::size_t matches, std::size_t files) {
  return std::log1p(static_cast<double>(files) /
                    static_cast<double>(std::max<std::size_t>(matches, 1))) -
         std::log(2.0);
}

std::vector<RankedFile> rank_files(const std::vector<WordMatches>& words,
                                   const std::unordered_map<std::int64_t, FileKind>& kinds) {
  std::unordered_map<std::int64_t, Standing> standings;
  double whole = 0;
  for (const WordMatches& word : words) {
    const double rare = word.extra ? 0 : rarity(word.scores.size(), kinds.size());
    whole += rare;
    for (const auto& [file, score] : word.scores) {
      standings[file].score += score;
      standings[file].covered += rare;
    }
  }
  std::vector<RankedFile> ranked;
  for (const auto& [file, standing] : standings) {
    const auto kind = kinds.find(file);
    if (kind != kinds.end()) {
      const double covered = whole > 0 ? standing.covered / whole : 1;
      ranked.push_back({.file = file, .score = standing.score * covered * factor_of(kind->second)});
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const RankedFile& a, const RankedFile& b) {
    return a.score != b.score ? a.score > b.score : a.file < b.file;
  });
  return ranked;
}

}  // namespace kernelpro::code
