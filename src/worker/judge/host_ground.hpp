// The CPU as ground: shared memory files, filled and compared by our own threads.
#pragma once

#include "worker/judge/ground.hpp"

namespace kernelpro {

// `cache_bytes`: the last-level cache.
[[nodiscard]] std::unique_ptr<Ground> make_host_ground(std::int64_t cache_bytes);

}  // namespace kernelpro
