// What a tree search meets in a simulation: who proposes children, and who judges them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "coordinator/search/search.hpp"
#include "coordinator/simulate/play.hpp"

namespace kernelpro {

// What became of a program.
struct PlayedProgram {
  SearchResult result;   // told to the search; its node is set by the play
  double seen_time = 0;  // that the search saw; meaningful when it passed
  double share = 0;      // of the optimum's speed, measured apart from that
};

// One play's own. Programs are numbered in the order of their births, the start is 0.
class TreeWorld {
 public:
  TreeWorld() = default;
  TreeWorld(const TreeWorld&) = delete;
  TreeWorld& operator=(const TreeWorld&) = delete;
  virtual ~TreeWorld() = default;

  // Judges a start, which is program 0 if it passes; another one the next time. Nothing: none is
  // left.
  [[nodiscard]] virtual std::optional<PlayedProgram> draw_start() = 0;

  enum class Proposed { program, repetition, nothing };
  // The next child of a program that was judged; a repetition is none.
  [[nodiscard]] virtual Proposed propose(std::size_t parent) = 0;
  // The program that was proposed as this number.
  [[nodiscard]] virtual PlayedProgram judge(std::size_t program) = 0;
};

// As `play`, of any world.
[[nodiscard]] std::vector<double> play_tree(const PlaySettings& settings, Search& search,
                                            TreeWorld& world);

}  // namespace kernelpro
