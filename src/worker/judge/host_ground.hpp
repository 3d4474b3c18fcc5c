// The CPU as ground: shared memory files, filled and compared by our own threads.
#pragma once

#include <limits>

#include "worker/judge/ground.hpp"

namespace kernelpro {

inline constexpr Ground::OracleLimits no_oracle_limits = {std::numeric_limits<double>::infinity(),
                                                          std::numeric_limits<double>::infinity()};

// `cache_bytes`: the last-level cache. A CPU's reference is about as slow as its baseline, so it is
// asked at every shape unless `limits` say otherwise.
[[nodiscard]] std::unique_ptr<Ground> make_host_ground(
    std::int64_t cache_bytes, Ground::OracleLimits limits = no_oracle_limits);

}  // namespace kernelpro
