#include "worker/judge/odd_pairs.hpp"

#include <algorithm>

#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"

namespace kernelpro {

OddPairs::OddPairs(const Key& key, int calls, int pairs, bool torch) : key_(key), calls_(calls) {
  const int together = std::min(calls, odd_distributions);
  const int wanted = torch ? 1 : (odd_distributions + together - 1) / together;
  KeyedRandom random(derive(key, time_odd_place_purpose, 0));
  for (int i = 0; i < wanted; ++i) {
    places_.push_back(static_cast<std::ptrdiff_t>(
        random.below(static_cast<std::uint64_t>(std::max(pairs - 1, 1)))));
  }
  std::sort(places_.begin(), places_.end());
}

bool OddPairs::is_due(std::ptrdiff_t recorded) const {
  return begun_ < std::ssize(places_) && places_[static_cast<std::size_t>(begun_)] <= recorded;
}

Key OddPairs::begin() {
  const std::uint64_t first = Rounds::first_odd(derive(key_, time_odd_purpose, 0));
  const int number = begun_++;
  const auto before = static_cast<std::uint64_t>(number) * static_cast<std::uint64_t>(calls_);
  for (int tries = 0;; ++tries) {
    const int one = tries * odd_distributions + number;
    const Key pair_key = derive(key_, time_odd_purpose, static_cast<std::uint64_t>(one));
    if (Rounds::first_odd(pair_key) == (first + before) % odd_distributions) {
      return pair_key;
    }
  }
}

}  // namespace kernelpro
