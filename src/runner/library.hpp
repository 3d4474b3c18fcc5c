// A candidate's shared object: the functions of its interface.
#pragma once

#include <string>

#include "kernelpro/candidate.h"

namespace kernelpro::runner {

struct Library {
  decltype(&kp_launch) launch = nullptr;
  decltype(&kp_workspace) workspace = nullptr;  // these three are optional
  decltype(&kp_state) state = nullptr;
  decltype(&kp_prepare) prepare = nullptr;
  const char* implementation = "";  // what it says it runs

  // Constructors run here. False with the reason when it does not load or has no kp_launch.
  [[nodiscard]] bool load(const char* path, std::string& why);
};

}  // namespace kernelpro::runner
