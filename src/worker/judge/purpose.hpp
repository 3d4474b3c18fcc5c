// What each number drawn from an evaluation's seed is for: no two of one value, or two draws would
// be the same.
#pragma once

#include <cstdint>

namespace kernelpro {

enum Purpose : std::uint64_t {
  check_shape_purpose = 1,
  check_values_purpose = 2,
  check_scalars_purpose = 3,

  screen_purpose = 11,
  time_pair_purpose = 12,
  time_bootstrap_purpose = 13,
  time_sample_purpose = 14,
  time_scalars_purpose = 15,

  energy_scalars_purpose = 31,
  energy_pair_purpose = 32,
  energy_sample_purpose = 33,
  energy_bootstrap_purpose = 34,
};

}  // namespace kernelpro
