// Which launches are worth a closer look: those of the kernels that make up most of the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/model/profile.hpp"
#include "common/model/trace.hpp"
#include "worker/profile/ncu_command.hpp"

namespace kernelpro {

// One window of launches for ncu, and which kernel each of its launches is.
struct ChosenWindow {
  LaunchWindow window;
  std::vector<TracedLaunch> launches;  // in order; as many as the window's count
};

struct LaunchChoice {
  // Most time first: name, module, shape, launches, share, duration and the launch that stands for
  // it are known, nothing else yet.
  std::vector<KernelProfile> kernels;
  std::vector<ChosenWindow> windows;  // together they hold the launch of every kernel
};

// The fewest kernels that make up `share` of the kernels' time, at most `most`. Two functions of
// one name in different modules are two kernels.
[[nodiscard]] LaunchChoice choose_launches(const Trace& trace, double share, std::size_t most);

}  // namespace kernelpro
