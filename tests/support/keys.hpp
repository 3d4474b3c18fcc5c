// Keys that tests can name.
#pragma once

#include <cstdint>

#include "common/base/chacha.hpp"

namespace kernelpro::testing {

// Another for every number.
constexpr Key numbered_key(std::uint64_t number) {
  return derive(Key{}, 0, number);
}

}  // namespace kernelpro::testing
