// What draws of one play's seed are for.
#pragma once

#include <cstdint>

namespace kernelpro {

enum PlayStream : std::uint64_t { judging = 1, starting, ordering, searching };

}  // namespace kernelpro
