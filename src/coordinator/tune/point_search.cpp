#include "coordinator/tune/point_search.hpp"

namespace kernelpro {

std::optional<Code> draw_unknown(const TuneSpace& space, Random& random,
                                 const std::unordered_set<Code>& known) {
  if (known.size() >= space.size()) {
    return std::nullopt;
  }
  // Where half is left, a few draws find one. Where less is left, so much was measured that a walk
  // costs nothing beside it.
  constexpr int draws = 16;
  for (int i = 0; i < draws; ++i) {
    if (const Code code = space.draw(random); !known.contains(code)) {
      return code;
    }
  }
  const std::uint64_t first = random.below(space.size());
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    if (const Code code = space.at((first + i) % space.size()); !known.contains(code)) {
      return code;
    }
  }
  return std::nullopt;
}

std::optional<Code> UniformDraws::ask() {
  const std::optional<Code> code = draw_unknown(space_, random_, known_);
  if (code) {
    known_.insert(*code);
  }
  return code;
}

void UniformDraws::tell(const PointResult& result) {
  if (space_.admits(result.code)) {
    known_.insert(result.code);
  }
}

}  // namespace kernelpro
