// Samples brought together with machine code: hot functions and their hot loops.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/profile.hpp"
#include "worker/host/host_code.hpp"
#include "worker/host/host_tools.hpp"
#include "worker/host/samples.hpp"

namespace kernelpro {

struct HotFunction {
  std::string name;
  std::string module;
  double samples = 0;
  std::vector<FoundLoop> loops;  // that have samples; `share` is of all working samples
  std::vector<HotLine> lines;
};

struct HotCode {
  std::vector<HotFunction> functions;  // most samples first
  std::vector<std::string> problems;   // modules that could not be read, and why
};

// Modules and functions with a good part of the time; the libraries that let threads wait are left
// out.
[[nodiscard]] HotCode find_hot_code(const HostSamples& samples, const HostTools& tools,
                                    std::stop_token stop);

}  // namespace kernelpro
