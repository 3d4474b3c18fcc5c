#pragma once

namespace kernelpro {

// Cycles a nanosecond, by a chain of additions that take one each: the best of a few tries, in two
// milliseconds.
[[nodiscard]] double measure_gigahertz();

// The widest vector registers that this processor has, in bits.
[[nodiscard]] int widest_vector_bits();

// How many processors this process may run on.
[[nodiscard]] int usable_processors();

}  // namespace kernelpro
