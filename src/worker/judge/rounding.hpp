// Whether errors look like those of rounding to a lower precision: bounded by what an honest
// computation in it gives, unbiased, and each element's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "worker/tensor/lower.hpp"

namespace kernelpro {

// An honest error is at most so many units of the lower precision: beyond it none is asked about.
inline constexpr double most_roundings = 8;

// The signed relative error of each element, (x - r) / (|r| + rms(r)), positive where x is larger
// in size than r; NaN where either is not finite.
[[nodiscard]] std::vector<double> signed_errors(const std::vector<double>& actual,
                                                const std::vector<double>& truth);

// What the errors of an output have in common.
struct ErrorPattern {
  std::size_t count = 0;  // of finite ones
  double largest = 0;
  double rms = 0;
  double bias = 0;  // |mean| over rms: 0 for errors of either sign, 1 for one that all share
  // For each stride: eight times the rms of the means over 64 elements at that distance, over the
  // rms of single errors. 1 for independent errors, 8 for those that neighbors share; 0 where there
  // are too few elements to tell.
  std::vector<double> shared;
};

// Neighbors are elements beside each other in some dimension of the tensor: strides of its axes,
// the innermost first.
[[nodiscard]] std::vector<std::size_t> neighbor_strides(const std::vector<std::int64_t>& shape);

[[nodiscard]] ErrorPattern pattern_of(const std::vector<double>& errors,
                                      const std::vector<std::size_t>& strides);

// How far true values differ, relative to their size (their mean and rms): all of them, and 64
// neighbors at each stride; 0 where there are too few to tell.
struct Variety {
  double all = 0;
  std::vector<double> near;
};

[[nodiscard]] Variety variety_of(const std::vector<double>& truth,
                                 const std::vector<std::size_t>& strides);

// An honest computation in the lower precision: its errors with what it reads rounded, and with
// what it writes rounded as well.
struct HonestTwin {
  ErrorPattern inputs_rounded;
  ErrorPattern all_rounded;
};

// How large errors in `lower` may be, given the twin's largest: no more than 8 u.
[[nodiscard]] double lower_bound(Lower lower, double twin_error);

// Why errors of that pattern are no rounding to `lower`; empty: they look like it. Where the true
// values are all but one, so are their errors: what they have in common is not looked at.
[[nodiscard]] std::string why_not_rounding(Lower lower, const ErrorPattern& errors,
                                           const HonestTwin& twin, const Variety& truth);

}  // namespace kernelpro
