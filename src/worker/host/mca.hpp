// What llvm-mca says of loops: how many cycles a turn takes, and how many its units need.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "worker/host/host_code.hpp"
#include "worker/host/host_tools.hpp"

namespace kernelpro {

struct McaCycles {
  double chain = 0;  // a turn, in a row of many
  double units = 0;
};

// The text that it is given: a region for each loop, and behind it another with products in the
// place of divisions where it has such.
[[nodiscard]] std::string mca_input(const std::vector<const FoundLoop*>& loops);

// One entry for each region, in their order.
[[nodiscard]] Result<std::vector<McaCycles>> parse_mca(std::string_view text);

// Fills in the cycles of those loops that can be simulated: those that call functions cannot.
// `folder` takes its input.
[[nodiscard]] Status simulate_loops(const HostTools& tools, const std::filesystem::path& folder,
                                    std::vector<FoundLoop*> loops, std::stop_token stop);

}  // namespace kernelpro
