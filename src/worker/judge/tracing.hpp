// What the GPU does during single calls, from a pass of its own: the tracer slows launches down, so
// nothing is timed with it. Evidence for people; no verdict stands on it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/model/certificate.hpp"
#include "worker/judge/rounds.hpp"

namespace kernelpro {

// Whether launching is a good part of a call at one of the shapes.
[[nodiscard]] bool has_short_call(const std::vector<ShapeTiming>& shapes);

// Fills in what a shape's timing says of traced calls. `arm` has loaded the candidate that was
// built as `build` says, in a runner that can trace. Leaves `timing` as it is when that fails, with
// the reason.
[[nodiscard]] Status trace_calls(Arm& arm, const BuildRecord& build, Rounds& rounds, const Key& key,
                                 std::int64_t timeout_ms, ShapeTiming& timing);

// The same for all shapes, by their rounds, with keys of the evaluation's own. Loads the candidate.
[[nodiscard]] Status trace_shapes(Arm& arm, const BuildRecord& build,
                                  const std::vector<std::unique_ptr<Rounds>>& rounds,
                                  const Key& master, std::int64_t timeout_ms,
                                  std::vector<ShapeTiming>& shapes);

// The share of the traced time in kernels that the build knows.
[[nodiscard]] double own_share(const runner::Trace& trace, const BuildRecord& build);

}  // namespace kernelpro
