// Pairs of the distributions beside the normal one, and where among the recorded pairs they come:
// secret, so that none of them can be told from a pair that counts.
#pragma once

#include <cstddef>
#include <vector>

#include "worker/judge/rounds.hpp"

namespace kernelpro {

class OddPairs {
 public:
  // `key`: of the timed shape. Together their calls are one of each distribution, where rounds have
  // so many.
  OddPairs(const Key& key, int calls, int pairs, bool torch);

  // Whether one comes before the next recorded pair, of which there are `recorded`.
  [[nodiscard]] bool is_due(std::ptrdiff_t recorded) const;
  // How many there were.
  [[nodiscard]] int begun() const { return begun_; }
  // The key of the next one: it begins with the distribution which those before it come to.
  [[nodiscard]] Key begin();

 private:
  Key key_;
  int calls_;
  int begun_ = 0;
  std::vector<std::ptrdiff_t> places_;  // rising
};

}  // namespace kernelpro
