// First cut of a diagnosis: the roofline class, from what the judge measured.
#pragma once

#include "common/model/node.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

[[nodiscard]] Diagnosis diagnose(const Timing& timing);

}  // namespace kernelpro
