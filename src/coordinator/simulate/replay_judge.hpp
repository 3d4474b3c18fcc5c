// Judges recorded programs: no compiler, no clock, the same answer for the same seed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/simulate/landscape.hpp"

namespace kernelpro {

// What programs are scored by. The even rounds of a program are for searches to see, the odd ones
// for the score: who is lucky with a time gains nothing by it. A program with one round has the
// same for both.
class Scores {
 public:
  explicit Scores(const Landscape& landscape);
  // The share of the optimum's speed that the program at this place has; 0 where it failed.
  [[nodiscard]] double share(std::uint64_t place) const { return shares_[place]; }
  // How many uniform draws without repetition reach 95 % on average.
  [[nodiscard]] double draws_to_95() const { return draws_to_95_; }

 private:
  std::vector<double> shares_;
  double draws_to_95_ = 0;
};

class ReplayJudge {
 public:
  // The landscape must outlive it.
  ReplayJudge(const Landscape& landscape, std::uint64_t seed)
      : landscape_(landscape), seed_(seed) {}
  [[nodiscard]] Outcome outcome(std::uint64_t place) const {
    return landscape_.programs[place].outcome;
  }
  // The mean of seven rounds that the seed draws from the even ones, with repetition; nothing for a
  // failure.
  [[nodiscard]] std::optional<double> time(std::uint64_t place) const;

 private:
  const Landscape& landscape_;
  std::uint64_t seed_;
};

}  // namespace kernelpro
