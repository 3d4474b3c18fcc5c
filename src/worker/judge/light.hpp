// The speed of light: what no honest kernel can beat, and what a good one comes near.
#pragma once

#include <string>

#include "common/model/ceilings.hpp"
#include "common/model/task.hpp"
#include "common/model/work.hpp"

namespace kernelpro {

struct Roofline {
  double bound_ns = 0;   // least time of a call on measured ceilings; 0 when not known
  std::string bound_by;  // "memory" or "compute"
};

// The greater of minimal bytes over the best measured bandwidth and flops over the best measured
// FMA rate of the contract's type.
[[nodiscard]] Roofline roofline(const Task& task, const Axes& axes, const Ceilings& ceilings);

// The time a call cannot go below however it is written: the minimal bytes of a round, less what
// the caches may have kept, over the best bandwidth seen. 0 when the round may live in the caches.
[[nodiscard]] double physical_floor_ns(const Task& task, const Axes& axes, int calls,
                                       std::int64_t cache_bytes, const Ceilings& ceilings);

// The declared operations over the fastest arithmetic of any kind that was measured: what is faster
// does fewer of them. A product in single precision may honestly be made of several on tensor
// cores, so the rate of the contract's own type is no such bound. 0 when nothing was measured.
[[nodiscard]] double arithmetic_floor_ns(const Task& task, const Axes& axes,
                                         const Ceilings& ceilings);

// The margin below the physical floor that noise of the ceilings may explain.
inline constexpr double light_margin = 0.9;

}  // namespace kernelpro
