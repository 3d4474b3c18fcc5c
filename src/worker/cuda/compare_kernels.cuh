// Outputs held against the truth, and against each other.
#pragma once

#include "elements.cuh"

// Where `outputs` is not finite, nothing is expected: NaN in the truth.
extern "C" __global__ void excuse(double* truth, const void* outputs, int type, Size elements) {
  for (Size i = first_index(); i < elements; i += index_step()) {
    if (!isfinite(load(outputs, type, i))) truth[i] = nan("");
  }
}

// What comparing one output came to; zeros and `worst` all ones at the start.
struct Comparison {
  double squares;     // of the truth's finite elements
  Size finite;        // how many these are
  Size error_bits;    // the largest error as the bits of a double (infinity for "not finite")
  Size worst;         // the least index with that error
  Size poisoned;      // elements that still hold poison
  Size excused;       // elements where the truth itself is not finite
  Size different;     // elements whose bits differ
  double actual;      // values at `worst`
  double expected;
};

// Two tensors to compare, and where the comparison is noted.
struct Compared {
  const void* actual;
  const void* truth;
  int type;
  int truth_type;
  Size elements;
  Comparison* out;
};

namespace {

// Calls use(pair, first, step) for each pair with the blocks that share it: as many as there are
// for each, so that one launch serves many small tensors as well as one large one.
template <typename Use>
__device__ void for_pairs(const Compared* pairs, Size count, Use use) {
  const Size blocks_a_pair = gridDim.x > count ? gridDim.x / count : 1;
  const Size teams = gridDim.x / blocks_a_pair;
  const Size team = blockIdx.x / blocks_a_pair;
  if (team >= teams) return;
  const Size first = blockIdx.x % blocks_a_pair * blockDim.x + threadIdx.x;
  for (Size pair = team; pair < count; pair += teams) {
    use(pairs[pair], first, blocks_a_pair * blockDim.x);
  }
}

}  // namespace

extern "C" __global__ void sum_squares(const Compared* pairs, Size count) {
  for_pairs(pairs, count, [](const Compared& pair, Size begin, Size step) {
    double squares = 0;
    Size finite = 0;
    for (Size i = begin; i < pair.elements; i += step) {
      const double value = load(pair.truth, pair.truth_type, i);
      if (isfinite(value)) {
        squares += value * value;
        ++finite;
      }
    }
    squares = warp_sum(squares);
    finite = warp_sum(finite);
    if (first_lane()) {
      atomicAdd(&pair.out->squares, squares);
      atomicAdd(&pair.out->finite, finite);
    }
  });
}

namespace {

// The error of element i as the judge defines it; below zero where it is excused: where the truth
// is not finite, or, when both must be `alike`, where neither is.
__device__ double element_error(const Compared& pair, Size i, double scale, int alike) {
  const double x = load(pair.actual, pair.type, i), r = load(pair.truth, pair.truth_type, i);
  if (isfinite(x) && isfinite(r)) {
    const double size = scale == 0 ? 1.0 : fabs(r) + scale, difference = fabs(x - r);
    return difference / size;
  }
  if (alike != 0 && (isfinite(x) || is_poison(pair.truth, pair.truth_type, i))) return INFINITY;
  return is_poison(pair.actual, pair.type, i) || isfinite(r) ? INFINITY : -1.0;
}

__device__ double scale_of(const Comparison& sums) {
  return sums.finite == 0 ? 0 : sqrt(sums.squares / static_cast<double>(sums.finite));
}

}  // namespace

extern "C" __global__ void compare_floating(const Compared* pairs, Size count, int alike) {
  for_pairs(pairs, count, [alike](const Compared& pair, Size begin, Size step) {
    const double scale = scale_of(*pair.out);
    double worst = 0;
    Size poisoned = 0, excused = 0;
    for (Size i = begin; i < pair.elements; i += step) {
      const double error = element_error(pair, i, scale, alike);
      if (error == INFINITY && is_poison(pair.actual, pair.type, i)) ++poisoned;
      if (error < 0) ++excused;
      worst = error > worst ? error : worst;
    }
    worst = warp_max(worst);
    poisoned = warp_sum(poisoned);
    excused = warp_sum(excused);
    if (!first_lane()) return;
    if (worst > 0) atomicMax(&pair.out->error_bits, __double_as_longlong(worst));
    if (poisoned > 0) atomicAdd(&pair.out->poisoned, poisoned);
    if (excused > 0) atomicAdd(&pair.out->excused, excused);
  });
}

// Second pass: where the largest error is.
extern "C" __global__ void find_worst(const Compared* pairs, Size count, int alike) {
  for_pairs(pairs, count, [alike](const Compared& pair, Size begin, Size step) {
    if (pair.out->error_bits == 0) return;
    const double scale = scale_of(*pair.out);
    const double worst = __longlong_as_double(static_cast<long long>(pair.out->error_bits));
    for (Size i = begin; i < pair.elements; i += step) {
      if (i < pair.out->worst && element_error(pair, i, scale, alike) == worst) {
        atomicMin(&pair.out->worst, i);
      }
    }
  });
}

extern "C" __global__ void read_worst(const Compared* pairs, Size count) {
  for (Size i = first_index(); i < count; i += index_step()) {
    const Compared& pair = pairs[i];
    if (pair.out->worst != ~Size{0}) {
      pair.out->actual = load(pair.actual, pair.type, pair.out->worst);
      pair.out->expected = load(pair.truth, pair.truth_type, pair.out->worst);
    }
  }
}

extern "C" __global__ void compare_bits(const Compared* pairs, Size count) {
  for_pairs(pairs, count, [](const Compared& pair, Size begin, Size step) {
    const int width = width_of(pair.type);
    const unsigned char* actual = static_cast<const unsigned char*>(pair.actual);
    const unsigned char* truth = static_cast<const unsigned char*>(pair.truth);
    Size different = 0, poisoned = 0;
    for (Size i = begin; i < pair.elements; i += step) {
      bool same = true;
      for (int k = 0; k < width; ++k) same = same && actual[i * width + k] == truth[i * width + k];
      if (!same) {
        ++different;
        if (is_poison(pair.actual, pair.type, i)) ++poisoned;
        if (i < pair.out->worst) atomicMin(&pair.out->worst, i);
      }
    }
    different = warp_sum(different);
    poisoned = warp_sum(poisoned);
    if (!first_lane()) return;
    if (different > 0) atomicAdd(&pair.out->different, different);
    if (poisoned > 0) atomicAdd(&pair.out->poisoned, poisoned);
  });
}
