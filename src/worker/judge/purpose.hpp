// What each key derived from an evaluation's master is for: no two of one value, or two draws would
// be the same.
#pragma once

#include <cstdint>

namespace kernelpro {

enum Purpose : std::uint64_t {
  check_shape_purpose = 1,
  check_values_purpose = 2,
  check_scalars_purpose = 3,
  check_set_purpose = 4,     // which set of a check is called
  check_others_purpose = 5,  // values of the sets that are not
  check_nudge_purpose = 6,
  check_ends_purpose = 7,  // which of the held-out shapes have sizes at an end of their ranges
  check_neighbor_purpose = 8,

  // Of a timed shape, an energy measurement or a trace, each with its index.
  time_shape_purpose = 10,
  energy_shape_purpose = 11,
  trace_shape_purpose = 12,

  incumbent_again_purpose = 13,  // the incumbent in a candidate's place
  candidate_again_purpose = 14,  // the candidate beside the baseline

  screen_purpose = 21,
  time_pair_purpose = 22,
  time_bootstrap_purpose = 23,
  time_sample_purpose = 24,
  time_scalars_purpose = 25,
  time_odd_purpose = 26,  // pairs of other distributions
  time_odd_place_purpose = 27,
  time_null_purpose = 28,
  time_alone_purpose = 29,
  time_nudge_purpose = 30,
  time_single_purpose = 31,
  time_sample_place_purpose = 32,
  time_watch_purpose = 33,  // where errors of calls are compared with each other
  time_single_alone_purpose = 34,

  // Of the pair of rounds itself.
  round_set_purpose = 41,
  round_order_purpose = 42,
  round_odd_purpose = 43,
  round_spiked_purpose = 44,
  round_bytes_purpose = 45,  // what is in memory that a call need not have written

  energy_scalars_purpose = 51,
  energy_pair_purpose = 52,
  energy_sample_purpose = 53,
  energy_bootstrap_purpose = 54,

  // Of what is looked at in a set's outputs.
  selection_rows_purpose = 61,
  rounding_sample_purpose = 62,
};

}  // namespace kernelpro
