// How far an output is from what was expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/model/dtype.hpp"

namespace kernelpro {

// e = max |x - r| / (|r| + rms(r)) over all elements; infinite where x is not finite and r is, and
// where whole numbers differ.
struct TensorError {
  double error = 0;
  std::int64_t worst = -1;  // index of the largest error; -1 when there is none
  double actual = 0;        // values there
  double expected = 0;
  std::int64_t excused = 0;   // elements where the baseline itself was not finite, or r is not
  std::int64_t poisoned = 0;  // elements that still hold the poison
};

// The root mean square of the finite elements.
[[nodiscard]] double rms(const double* values, std::size_t count);

// `scale` is rms(expected): an error is a share of that and of its element; where all is zero it is
// the difference itself. `baseline` (same type as `actual`, or null) excuses elements where it
// is not finite.
[[nodiscard]] TensorError compare_floating(const char* actual, DType dtype, const double* expected,
                                           double scale, std::size_t count, const char* baseline);

[[nodiscard]] TensorError compare_whole(const char* actual, const char* expected, DType dtype,
                                        std::size_t count);

// An index is as wrong as the value it selects is worse than the best: `values` has `choices`
// entries for each of `count` indices. An index out of range is infinitely wrong.
[[nodiscard]] TensorError compare_selection(const char* actual, DType dtype, const double* values,
                                            std::size_t count, std::size_t choices, bool smallest);

// Whether two outputs of one type agree within `bound` in the sense of e; not finite agrees with
// not finite; whole numbers must be equal.
[[nodiscard]] bool agree(const char* first, const char* second, DType dtype, std::size_t count,
                         double bound);

// The values of a floating tensor as doubles.
[[nodiscard]] std::vector<double> to_doubles(const char* data, DType dtype, std::size_t count);

}  // namespace kernelpro
