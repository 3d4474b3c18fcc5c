// ncu's command lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernelpro {

// Which launches are profiled: of those kernels, the first `count` from launch `skip` on, all
// launches of the process counted.
struct LaunchWindow {
  std::vector<std::string> kernels;  // mangled
  std::int64_t skip = 0;
  std::int64_t count = 1;
};

struct NcuWish {
  LaunchWindow window;
  std::vector<std::string> metrics;  // ncu's names
  bool source = true;                // counts and samples for each instruction
  bool cold = false;                 // each launch from emptied caches
  bool rules = false;                // the sections that ncu's own rules look at
  std::string report;                // file, without .ncu-rep
};

// The sections that ncu's own rules look at.
[[nodiscard]] const std::vector<std::string>& ncu_rule_sections();

// What comes before the program on the command line.
[[nodiscard]] std::vector<std::string> ncu_profile_command(const std::string& ncu,
                                                           const NcuWish& wish);

enum class NcuPage { raw, source, source_without_lines, details };

// Prints one page of a report as CSV, in base units and with mangled names.
[[nodiscard]] std::vector<std::string> ncu_page_command(const std::string& ncu,
                                                        const std::string& report, NcuPage page);

}  // namespace kernelpro
