// What each number drawn from an evaluation's seed is for: no two of one value, or two draws would
// be the same.
#pragma once

#include <cstdint>

namespace kernelpro {

enum Purpose : std::uint64_t {
  check_shape_purpose = 1,
  check_values_purpose,
  check_scalars_purpose,

  screen_purpose = 11,
  time_pair_purpose,
  time_bootstrap_purpose,
  time_sample_purpose,
  time_scalars_purpose,

  energy_scalars_purpose = 31,
  energy_pair_purpose,
  energy_sample_purpose,
  energy_bootstrap_purpose,
};

}  // namespace kernelpro
