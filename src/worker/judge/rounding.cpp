#include "worker/judge/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "worker/tensor/compare.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t block = 64;
constexpr double root_of_block = 8;
constexpr std::size_t least_blocks = 8;

constexpr double bound_factor = 4;  // on the twin's error
constexpr double most_bias = 0.25;
constexpr double twin_factor = 2;
constexpr double margin = 1.25;
// Of a mean over few elements, in its own standard deviations.
constexpr double chance = 4;

// True values that differ by less than so many units of the lower precision: rounding may well make
// all of them one, and what they have in common says nothing.
constexpr double least_variety = 4;

// The finite elements of a block.
struct Sum {
  double total = 0;
  double squares = 0;
  std::size_t count = 0;

  void add(double value) {
    if (std::isfinite(value)) {
      total += value;
      squares += value * value;
      ++count;
    }
  }
  [[nodiscard]] double mean() const { return total / static_cast<double>(count); }
  [[nodiscard]] double variance() const {
    return std::max(0.0, squares / static_cast<double>(count) - mean() * mean());
  }
};

// The blocks of 64 elements that lie `stride` apart, without those that hold a NaN; none where
// there are too few to tell.
std::vector<Sum> blocks_of(const std::vector<double>& values, std::size_t stride) {
  const std::size_t span = block * stride;
  std::vector<Sum> out;
  std::vector<Sum> sums(stride);
  for (std::size_t at = 0; at + span <= values.size(); at += span) {
    std::fill(sums.begin(), sums.end(), Sum());
    for (std::size_t i = 0; i < span; ++i) {
      sums[i % stride].add(values[at + i]);
    }
    std::copy_if(sums.begin(), sums.end(), std::back_inserter(out),
                 [](const Sum& sum) { return sum.count == block; });
  }
  return out.size() < least_blocks ? std::vector<Sum>() : out;
}

// The rms of what `figure` says of each block; 0 for none.
template <typename Figure>
double rms_of(const std::vector<Sum>& blocks, const Figure& figure) {
  double squares = 0;
  for (const Sum& one : blocks) {
    squares += figure(one) * figure(one);
  }
  return blocks.empty() ? 0 : std::sqrt(squares / static_cast<double>(blocks.size()));
}

// What a figure may be, given the twin's. Its rounded outputs are as an honest candidate's can be
// at worst: rounding what was rounded before undoes factors near one, which then look shared.
double most(double inputs_rounded, double all_rounded) {
  return std::max(twin_factor * inputs_rounded, margin * all_rounded);
}

std::string why_biased(const ErrorPattern& errors, const HonestTwin& twin) {
  double together = 1;  // how far errors of the twin go together: so much fewer there are
  for (const double shared : twin.inputs_rounded.shared) {
    together = std::max(together, shared);
  }
  const double allowed = most_bias + most(twin.inputs_rounded.bias, twin.all_rounded.bias) +
                         chance * together / std::sqrt(static_cast<double>(errors.count));
  if (errors.bias <= allowed) {
    return {};
  }
  return fmt::format(
      "biased: the mean of the errors is {:.2f} of their rms, {:.2f} for an honest computation",
      errors.bias, twin.inputs_rounded.bias);
}

std::string why_shared(const ErrorPattern& errors, const HonestTwin& twin, const Variety& truth,
                       double least) {
  for (std::size_t i = 0; i < errors.shared.size(); ++i) {
    const double honest = twin.inputs_rounded.shared[i];
    if (truth.near[i] >= least &&
        errors.shared[i] > most(std::max(honest, 1.0), twin.all_rounded.shared[i]) + 1) {
      return fmt::format(
          "shared by neighbors: {:.1f} for the errors, {:.1f} for an honest computation, 1 for "
          "independent errors and 8 for common ones",
          errors.shared[i], honest);
    }
  }
  return {};
}

}  // namespace

std::vector<double> signed_errors(const std::vector<double>& actual,
                                  const std::vector<double>& truth) {
  const double scale = rms(truth.data(), truth.size());
  std::vector<double> out(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double size = std::fabs(truth[i]) + scale;
    const double difference = actual[i] == truth[i] ? 0 : (actual[i] - truth[i]) / size;
    out[i] = truth[i] < 0 ? -difference : difference;
    if (!std::isfinite(out[i])) {
      out[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return out;
}

std::vector<std::size_t> neighbor_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::size_t> strides = {1};
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    const auto extent = static_cast<std::size_t>(std::max<std::int64_t>(shape[axis], 1));
    if (extent > 1) {
      strides.push_back(strides.back() * extent);
    }
  }
  return strides;
}

ErrorPattern pattern_of(const std::vector<double>& errors,
                        const std::vector<std::size_t>& strides) {
  ErrorPattern out;
  Sum sum;
  for (const double error : errors) {
    sum.add(error);
    out.largest = std::isfinite(error) ? std::max(out.largest, std::fabs(error)) : out.largest;
  }
  out.count = sum.count;
  out.rms = rms(errors.data(), errors.size());
  if (out.rms > 0) {
    out.bias = std::fabs(sum.total) / static_cast<double>(sum.count) / out.rms;
  }
  for (const std::size_t stride : strides) {
    const double rms_mean =
        rms_of(blocks_of(errors, stride), [](const Sum& one) { return one.mean(); });
    out.shared.push_back(out.rms > 0 ? root_of_block * rms_mean / out.rms : 0);
  }
  return out;
}

Variety variety_of(const std::vector<double>& truth, const std::vector<std::size_t>& strides) {
  const double scale = rms(truth.data(), truth.size());
  const auto relative = [scale](const Sum& sum) {
    const double size = std::fabs(sum.mean()) + scale;
    return size > 0 ? std::sqrt(sum.variance()) / size : 0;
  };
  Variety out;
  Sum whole;
  for (const double value : truth) {
    whole.add(value);
  }
  out.all = whole.count > 0 ? relative(whole) : 0;
  for (const std::size_t stride : strides) {
    out.near.push_back(rms_of(blocks_of(truth, stride), relative));
  }
  return out;
}

double lower_bound(Lower lower, double twin_error) {
  const double u = unit_roundoff(lower);
  return std::min(bound_factor * (twin_error + u), most_roundings * u);
}

std::string why_not_rounding(Lower lower, const ErrorPattern& errors, const HonestTwin& twin,
                             const Variety& truth) {
  const double bound = lower_bound(lower, twin.inputs_rounded.largest);
  if (errors.largest > bound) {
    return fmt::format("larger than an honest computation: {:.3g}, where {:.3g} is the most",
                       errors.largest, bound);
  }
  // What is cut is biased by nature, so its pattern tells little: its size must do.
  const double most_rms = twin_factor * std::max(twin.inputs_rounded.rms, twin.all_rounded.rms) +
                          unit_roundoff(lower) / 4;
  if (lower == Lower::tf32_cut && errors.rms > most_rms) {
    return fmt::format(
        "larger than an honest computation: an rms of {:.3g}, where {:.3g} is the most", errors.rms,
        most_rms);
  }
  const double least = least_variety * unit_roundoff(lower);
  if (truth.all < least || errors.count == 0) {
    return {};
  }
  const std::string biased = why_biased(errors, twin);
  return biased.empty() ? why_shared(errors, twin, truth, least) : biased;
}

}  // namespace kernelpro
