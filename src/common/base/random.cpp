#include "common/base/random.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace kernelpro {

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  if (::getentropy(&seed, sizeof seed) != 0) {
    // Going on with a seed that can be guessed would make every verdict worthless.
    std::fputs("kernelpro: the system has no source of random numbers (getentropy failed)\n",
               stderr);
    std::abort();
  }
  return seed;
}

}  // namespace kernelpro
