// A profile in, a diagnosis out: stage 1 classifies each kernel, stage 2 runs the tools that fit.
#pragma once

#include "common/model/finding.hpp"
#include "common/model/profile.hpp"
#include "worker/diagnose/roofline.hpp"

namespace kernelpro {

struct DiagnoseOptions {
  bool all_tools = false;  // whatever the class
  RooflineLimits limits;
};

[[nodiscard]] DiagnosisReport diagnose(const Profile& profile, const DiagnoseOptions& options = {});

}  // namespace kernelpro
