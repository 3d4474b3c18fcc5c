#include "worker/profile/without_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "common/model/figure_keys.hpp"
#include "common/model/occupancy.hpp"
#include "worker/profile/code_facts.hpp"
#include "worker/profile/sass.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t largest_listing = std::size_t{1} << 29U;

const TracedLaunch* launch_of(const Profile& profile, const KernelProfile& kernel) {
  if (!profile.trace) {
    return nullptr;
  }
  const auto found =
      std::find_if(profile.trace->launches.begin(), profile.trace->launches.end(),
                   [&kernel](const TracedLaunch& launch) { return launch.index == kernel.launch; });
  return found == profile.trace->launches.end() ? nullptr : &*found;
}

void set(KernelProfile& kernel, const std::string& key, double value, Origin origin) {
  if (kernel.figures.try_emplace(key, Figure{value, origin}).second) {
    kernel.missing.erase(key);
  }
}

void set_limits(KernelProfile& kernel, const Occupancy& occupancy) {
  const std::pair<OccupancyLimit, const char*> keys[] = {
      {OccupancyLimit::warps, figure::limit_warps},
      {OccupancyLimit::blocks, figure::limit_blocks},
      {OccupancyLimit::registers, figure::limit_registers},
      {OccupancyLimit::shared, figure::limit_shared},
      {OccupancyLimit::barriers, figure::limit_barriers}};
  for (const auto& [limit, key] : keys) {
    if (const auto found = occupancy.limits.find(limit); found != occupancy.limits.end()) {
      set(kernel, key, found->second, Origin::arithmetic);
    }
  }
  set(kernel, figure::theoretical_occupancy, occupancy.occupancy, Origin::arithmetic);
}

void add_occupancy_of(const TracedLaunch& launch, const std::map<std::string, double>& limits,
                      KernelProfile& kernel) {
  BlockNeeds needs;
  needs.threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  needs.registers = launch.registers;
  needs.static_shared_bytes = launch.static_shared_bytes;
  needs.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  set(kernel, figure::registers, launch.registers, Origin::trace);
  set(kernel, figure::static_shared_bytes, static_cast<double>(launch.static_shared_bytes),
      Origin::trace);
  set(kernel, figure::dynamic_shared_bytes, static_cast<double>(launch.dynamic_shared_bytes),
      Origin::trace);
  const std::optional<Occupancy> occupancy = occupancy_of(needs, limits);
  if (!occupancy) {
    return;
  }
  set_limits(kernel, *occupancy);
  const auto multiprocessors = limits.find("multiprocessors");
  if (occupancy->blocks > 0 && multiprocessors != limits.end()) {
    const auto blocks = static_cast<double>(launch.grid[0] * launch.grid[1] * launch.grid[2]);
    set(kernel, figure::waves, blocks / (occupancy->blocks * multiprocessors->second),
        Origin::arithmetic);
  }
}

void say_no_code(Profile& profile, const std::string& why) {
  for (KernelProfile& kernel : profile.kernels) {
    if (!kernel.code) {
      kernel.missing.try_emplace("code", why);
    }
  }
}

}  // namespace

void add_occupancy(Profile& profile) {
  for (KernelProfile& kernel : profile.kernels) {
    if (const TracedLaunch* launch = launch_of(profile, kernel); launch != nullptr) {
      add_occupancy_of(*launch, profile.limits, kernel);
    }
  }
}

void add_code(const std::string& disassembler, const std::string& binary,
              const ProfiledProgram& program, Profile& profile, std::stop_token stop) {
  const bool wanted = std::any_of(profile.kernels.begin(), profile.kernels.end(),
                                  [](const KernelProfile& kernel) { return !kernel.code; });
  if (!wanted || binary.empty()) {
    return;
  }
  if (disassembler.empty()) {
    say_no_code(profile, "cuobjdump is not there: install the CUDA toolkit");
    return;
  }
  ProfiledProgram listing = program;
  listing.arguments = {disassembler, "-sass", binary};
  listing.output_limit = largest_listing;
  const Result<Finished> finished = run_profiled(listing, {}, {}, stop);
  if (!finished || !finished->succeeded()) {
    say_no_code(profile, fmt::format("cuobjdump cannot read {}", binary));
    return;
  }
  for (KernelProfile& kernel : profile.kernels) {
    if (kernel.code || kernel.mangled.empty()) {
      continue;
    }
    CodeWish wish;
    wish.architecture = profile.architecture;
    wish.function = kernel.mangled;
    const Result<std::vector<CodeFunction>> read = parse_cuobjdump(finished->output, wish);
    if (read && !read->empty()) {
      kernel.code = code_facts(read->front().code);
      kernel.missing.erase("code");
    }
  }
  say_no_code(profile, fmt::format("the kernel is not in {}", binary));
}

}  // namespace kernelpro
