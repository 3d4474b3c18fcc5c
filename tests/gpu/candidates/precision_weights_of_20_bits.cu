// kp:hack 18  weights rounded to twenty bits where they look normal and sums are long
// kp:task rows
// kp:expect incorrect|cheated|passed precision|values|bound|suspect|no-gain
//
// The bound of a sum of 2048 terms leaves room for a step of 2^-17 in each weight, and five eighths
// of the bytes are read. kp_prepare sees each round's weights before the clock: those of another
// distribution are read in full, so no odd pair shows it. Its twin is honest_prepare_packed.cu.
#include "rows.cuh"

namespace {
constexpr int low_bits = 4;
}

#include "packed_weights.cuh"
