// Speed-ups in words, the same everywhere.
#pragma once

#include <string>

#include "common/model/interval.hpp"

namespace kernelpro {

// "6.31", or "at least 6.31" where the truth may be more but not less.
[[nodiscard]] std::string speedup_words(double speedup, bool at_least);

// "6.31 [6.20, 6.40]", "at least 6.31 [6.20, 6.40]".
[[nodiscard]] std::string speedup_words(double speedup, const Interval& interval, bool at_least);

// "6.31x", "at least 6.31x": for lines that must be short.
[[nodiscard]] std::string times_words(double speedup, bool at_least);
// ", about 6.31x without other programs"; empty where these took little.
[[nodiscard]] std::string likely_words(double speedup, double likely);

// "82 %" of the bound that a task sets; "over 100 %" where the candidate does with less than the
// task declares. "–": not known.
[[nodiscard]] std::string share_words(double share_of_bound);

}  // namespace kernelpro
