// Stage 1 on processors: what a function is held up by, from the task's work, measured ceilings,
// samples of threads and simulated loops.
#pragma once

#include "common/model/finding.hpp"
#include "common/model/profile.hpp"
#include "worker/diagnose/roofline.hpp"

namespace kernelpro {

[[nodiscard]] KernelDiagnosis classify_on_host(const Profile& profile, const KernelProfile& kernel,
                                               const RooflineLimits& limits = {});

}  // namespace kernelpro
