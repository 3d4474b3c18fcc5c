#include "worker/toolchain/processor.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "common/base/file.hpp"
#include "common/base/text.hpp"

namespace kernelpro {
namespace {

constexpr auto identifying_keys = std::to_array<std::string_view>({
    "vendor_id",
    "cpu family",
    "model",
    "model name",
    "stepping",
    "flags",
    "Features",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
    "CPU revision",
});

void add_features(Processor& processor, std::string_view list) {
  std::istringstream words{std::string(list)};
  for (std::string word; words >> word;) {
    processor.features.insert(word);
  }
}

}  // namespace

Processor parse_processor(const std::string& architecture, const std::string& cpuinfo) {
  Processor out;
  out.architecture = architecture;
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      continue;
    }
    const std::string_view key = trimmed(std::string_view(line).substr(0, colon), " \t");
    const std::string_view value = trimmed(std::string_view(line).substr(colon + 1), " \t");
    if (std::ranges::find(identifying_keys, key) == identifying_keys.end()) {
      continue;
    }
    out.identity.append(key).append("=").append(value).append("\n");
    if (key == "flags" || key == "Features") {
      add_features(out, value);
    }
  }
  return out;
}

Processor this_processor() {
  utsname names{};
  uname(&names);
  const Result<std::string> cpuinfo = read_file("/proc/cpuinfo");
  return parse_processor(names.machine, cpuinfo ? *cpuinfo : std::string());
}

}  // namespace kernelpro
