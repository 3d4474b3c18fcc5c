// How far the predictions of the micro-profiling tools are believed, by what they were worth so
// far.
#pragma once

#include <string>
#include <vector>

#include "common/model/tool_record.hpp"

namespace kernelpro {

struct ToolBelief {
  double share = 1;  // of the logarithm of a predicted gain that is to be expected
  int cases = 0;     // that passed and were measured; 0: nothing is known
};

// By what was seen of the tool in candidates of that class on that device; where that is little, by
// all that was seen of it; where that is little too, a prediction is taken as it is.
[[nodiscard]] ToolBelief belief_in(const std::string& tool, KernelClass kind,
                                   const std::string& device,
                                   const std::vector<ToolRecord>& records);

// Shrinks or widens the predictions that were not yet, says so in their derivation, and puts the
// largest first: tools whose findings do not pay sink.
void correct_predictions(std::vector<Finding>& findings, KernelClass kind,
                         const std::string& device, const std::vector<ToolRecord>& records);

}  // namespace kernelpro
