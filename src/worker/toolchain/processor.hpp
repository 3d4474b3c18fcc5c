// What the system says about this processor, as far as it decides which code runs here.
#pragma once

#include <set>
#include <string>

namespace kernelpro {

struct Processor {
  std::string architecture;        // "aarch64", "x86_64"
  std::string identity;            // model and features as /proc/cpuinfo has them
  std::set<std::string> features;  // "asimddp", "avx2"
};

// Of the first processor in `cpuinfo` (the text of /proc/cpuinfo); clocks and counters are left
// out, so the identity is the same at every reading.
[[nodiscard]] Processor parse_processor(const std::string& architecture,
                                        const std::string& cpuinfo);

// The one we run on; without /proc its identity is empty.
[[nodiscard]] Processor this_processor();

}  // namespace kernelpro
