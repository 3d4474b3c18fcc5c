// What the parts of an evaluation come to in its verdict.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/model/verdict.hpp"
#include "worker/judge/failure.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

// Geometric means over the shapes; the interval and the floor likewise.
void combine_shapes(Timing& timing);

// Nothing failed. `against`: whom it was compared with.
void pass(Verdict& verdict, bool timed, const std::string& against);

void fail(Verdict& verdict, Failure failure);

// What another trial of the same candidate found that does not end in a failure: doubt about it,
// and the lower precision of some call.
void keep_findings(Verdict& verdict, const Verdict& again);

// The remarks on what was compared at a shape with a rival ("baseline", "incumbent"): that the
// rival was at its best outside of the pairs, that calls by themselves do not confirm what rounds
// save.
[[nodiscard]] std::vector<std::string> remarks_on(const ShapeTiming& timing,
                                                  const std::string& rival);

[[nodiscard]] Failure build_failure(const BuildOutcome& build);

using ShapeBounds = std::map<Axes, std::vector<double>>;  // by timed shape, for each output

// Those of that shape; none where it has none.
[[nodiscard]] std::vector<double> at_shape(const ShapeBounds& bounds, const Axes& axes);

// Twice the bound of each output there, because two right outputs may err to either side.
[[nodiscard]] std::vector<double> agreement_bounds(const ShapeBounds& bounds, const Axes& axes,
                                                   std::size_t outputs);

// Each bound by what a lower precision adds to it; `more` is empty where it adds nothing.
[[nodiscard]] std::vector<double> widened(std::vector<double> bounds,
                                          const std::vector<double>& more);

}  // namespace kernelpro
