#include "worker/profile/launch_choice.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "common/base/demangle.hpp"

namespace kernelpro {

namespace {

// More launches than this in one window cost more than further runs of the program.
constexpr std::size_t most_in_window = 16;

using Launches = std::vector<const TracedLaunch*>;

std::int64_t duration(const TracedLaunch& launch) {
  return std::max<std::int64_t>(launch.end_ns - launch.start_ns, 0);
}

std::int64_t total(const Launches& launches) {
  std::int64_t sum = 0;
  for (const TracedLaunch* launch : launches) {
    sum += duration(*launch);
  }
  return sum;
}

TracedLaunch median_launch(Launches launches) {
  const auto middle = launches.begin() + static_cast<std::ptrdiff_t>(launches.size() / 2);
  std::nth_element(
      launches.begin(), middle, launches.end(),
      [](const TracedLaunch* a, const TracedLaunch* b) { return duration(*a) < duration(*b); });
  return **middle;
}

std::vector<Launches> by_kernel(const Trace& trace) {
  std::map<std::pair<std::string, std::string>, Launches> groups;
  for (const TracedLaunch& launch : trace.launches) {
    groups[{launch.name, launch.module}].push_back(&launch);
  }
  std::vector<Launches> out;
  out.reserve(groups.size());
  for (auto& [key, launches] : groups) {
    out.push_back(std::move(launches));
  }
  std::sort(out.begin(), out.end(), [](const Launches& a, const Launches& b) {
    const std::int64_t first = total(a);
    const std::int64_t second = total(b);
    return first != second ? first > second : a.front()->index < b.front()->index;
  });
  return out;
}

KernelProfile kernel_of(const Launches& launches, double all_ns) {
  const TracedLaunch chosen = median_launch(launches);
  KernelProfile kernel;
  kernel.name = demangled(chosen.name);
  kernel.mangled = chosen.name;
  kernel.module = chosen.module;
  kernel.launch = chosen.index;
  kernel.grid = chosen.grid;
  kernel.block = chosen.block;
  kernel.launches = static_cast<int>(launches.size());
  kernel.share = all_ns > 0 ? static_cast<double>(total(launches)) / all_ns : 0;
  kernel.duration_ns = static_cast<double>(duration(chosen));
  return kernel;
}

// All launches of those names from the first to the last index, in order.
ChosenWindow window_between(const std::vector<TracedLaunch>& by_index,
                            const std::set<std::string>& names, std::int64_t first,
                            std::int64_t last) {
  ChosenWindow out;
  out.window.kernels.assign(names.begin(), names.end());
  out.window.skip = first;
  for (const TracedLaunch& launch : by_index) {
    if (launch.index >= first && launch.index <= last && names.contains(launch.name)) {
      out.launches.push_back(launch);
    }
  }
  out.window.count = static_cast<std::int64_t>(out.launches.size());
  return out;
}

std::vector<ChosenWindow> windows_for(const Trace& trace,
                                      const std::vector<KernelProfile>& kernels) {
  std::vector<TracedLaunch> by_index = trace.launches;
  std::sort(by_index.begin(), by_index.end(),
            [](const TracedLaunch& a, const TracedLaunch& b) { return a.index < b.index; });
  std::set<std::string> names;
  std::int64_t first = kernels.front().launch;
  std::int64_t last = first;
  for (const KernelProfile& kernel : kernels) {
    names.insert(kernel.mangled);
    first = std::min(first, kernel.launch);
    last = std::max(last, kernel.launch);
  }
  ChosenWindow all = window_between(by_index, names, first, last);
  if (all.launches.size() <= most_in_window) {
    return {all};
  }
  std::vector<ChosenWindow> out;
  out.reserve(kernels.size());
  for (const KernelProfile& kernel : kernels) {
    out.push_back(window_between(by_index, {kernel.mangled}, kernel.launch, kernel.launch));
  }
  return out;
}

}  // namespace

LaunchChoice choose_launches(const Trace& trace, double share, std::size_t most) {
  LaunchChoice out;
  const std::vector<Launches> groups = by_kernel(trace);
  double all_ns = 0;
  for (const Launches& launches : groups) {
    all_ns += static_cast<double>(total(launches));
  }
  double covered_ns = 0;
  for (const Launches& launches : groups) {
    if (out.kernels.size() >= most || (covered_ns > 0 && covered_ns >= share * all_ns)) {
      break;
    }
    out.kernels.push_back(kernel_of(launches, all_ns));
    covered_ns += static_cast<double>(total(launches));
  }
  // Of each further kernel the launch nearest to the main one's: the window stays small.
  for (KernelProfile& kernel : out.kernels) {
    std::int64_t nearest = kernel.launch;
    for (const TracedLaunch& launch : trace.launches) {
      const bool same = launch.name == kernel.mangled && launch.module == kernel.module &&
                        launch.grid == kernel.grid && launch.block == kernel.block;
      if (same && std::abs(launch.index - out.kernels.front().launch) <
                      std::abs(nearest - out.kernels.front().launch)) {
        nearest = launch.index;
      }
    }
    kernel.launch = nearest;
  }
  if (!out.kernels.empty()) {
    out.windows = windows_for(trace, out.kernels);
  }
  return out;
}

}  // namespace kernelpro
