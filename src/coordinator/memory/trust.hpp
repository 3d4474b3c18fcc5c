// How far a memory is believed within a run.
#pragma once

#include "common/model/lesson.hpp"

namespace kernelpro::memory {

// A memory and the files of moves both predict what a move gains; whoever is nearer to what is
// measured is believed more. So lessons that are wrong here cost a few evaluations and are then
// passed over.
class Trust {
 public:
  // `gain`: measured, as MovePrior has it; `otherwise`: what the move's file promised.
  void measured(double gain, const MovePrior& remembered, double otherwise);
  // From 0 to 1.
  [[nodiscard]] double share() const;

 private:
  double log_odds_ = 1.4;  // four to one for the memory: it was measured, files are guessed
};

}  // namespace kernelpro::memory
