// Which of many timed calls, all within a lower precision, have errors unlike the others': a few
// calls are held against the reference, and whoever errs otherwise than by rounding in some calls
// only would be found by luck.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/base/chacha.hpp"
#include "worker/judge/shape_buffers.hpp"

namespace kernelpro {

class NeighborWatch {
 public:
  // Must outlive it.
  explicit NeighborWatch(const ShapeBuffers& buffers) : buffers_(buffers) {}

  // Of these sets, on which both arms have just run, those where what the arms differ by is far
  // more alike among neighbors than on the set where it was least so. At most sixteen are looked
  // at, in blocks at places that follow from the secret key.
  [[nodiscard]] std::vector<int> conspicuous(const Key& key, std::vector<int> sets);

  // That set was held against the reference and is right: no more than it had is conspicuous.
  void found_right(int set);

 private:
  // By output: how much neighbors share, as ErrorPattern has it; 0 where that cannot be told.
  using Figures = std::vector<double>;

  [[nodiscard]] Figures look_at(const Key& key, int set) const;

  const ShapeBuffers& buffers_;
  std::map<int, Figures> last_;  // by set, of the last pair
  Figures least_;
  Figures right_;  // the most that was found right
};

}  // namespace kernelpro
