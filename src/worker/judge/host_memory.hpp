// The buffers of one plan in memory that processes share.
#pragma once

#include "worker/judge/ground.hpp"

namespace kernelpro {

// `drawer`: who draws the inputs; null: they are drawn here. Task and plan must outlive it.
[[nodiscard]] Result<std::unique_ptr<SetMemory>> make_host_memory(const Task& task,
                                                                  const BufferPlan& plan,
                                                                  std::int64_t cache_bytes,
                                                                  Oracle* drawer);

}  // namespace kernelpro
