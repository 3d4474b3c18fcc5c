#include "worker/ceilings/machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/jail_policy.hpp"
#include "common/base/text.hpp"

namespace kernelpro {
namespace {

// Linux allows no more processors than this in any configuration so far.
constexpr std::size_t max_processors = 8192;

std::string first_line(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string processor_folder(int processor) {
  return "/sys/devices/system/cpu/cpu" + std::to_string(processor);
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  return value;
}

// The first processor's entry in /proc/cpuinfo.
std::map<std::string, std::string> processor_entry() {
  std::map<std::string, std::string> entry;
  std::ifstream stream("/proc/cpuinfo");
  std::string line;
  while (std::getline(stream, line) && !line.empty()) {
    const auto colon = line.find(':');
    if (colon != std::string::npos) {
      const std::string_view text = line;
      entry.emplace(trimmed(text.substr(0, colon), " \t"), trimmed(text.substr(colon + 1), " \t"));
    }
  }
  return entry;
}

// arm64 kernels give numbers instead of a name; these are the cores of Arm's own server designs
// (part numbers from their technical reference manuals).
std::string arm_processor_name(const std::string& implementer, const std::string& part) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> arm_parts{
      {{"0xd0c", "Neoverse-N1"},
       {"0xd40", "Neoverse-V1"},
       {"0xd49", "Neoverse-N2"},
       {"0xd4f", "Neoverse-V2"}}};
  if (implementer == "0x41") {
    for (const auto& [number, name] : arm_parts) {
      if (part == number) {
        return "ARM " + std::string(name);
      }
    }
  }
  return "implementer " + implementer + " part " + part;
}

std::string processor_name() {
  std::map<std::string, std::string> entry = processor_entry();
  if (entry.contains("model name")) {
    return entry["model name"];
  }
  if (entry.contains("CPU part")) {
    return arm_processor_name(entry["CPU implementer"], entry["CPU part"]);
  }
  return {};
}

std::int64_t memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::int64_t>(pages) * page : 0;
}

struct CacheInstance {
  std::int64_t level = 0;
  std::int64_t bytes = 0;
  std::string shared_by;  // the list of processors, which tells instances apart
};

// The kernel writes cache sizes as "32768K".
std::int64_t size_in_bytes(std::string_view text) {
  return leading_number(text).value_or(0) * 1024;
}

// The last cache before memory that `processor` uses; level 0 when the system does not tell.
CacheInstance last_cache_of(int processor) {
  CacheInstance last;
  const std::filesystem::path caches = processor_folder(processor) + "/cache";
  for (int index = 0; index < 8; ++index) {
    const auto folder = caches / ("index" + std::to_string(index));
    const std::int64_t level = leading_number(first_line(folder / "level")).value_or(0);
    if (level > last.level && first_line(folder / "type") != "Instruction") {
      last = {.level = level,
              .bytes = size_in_bytes(first_line(folder / "size")),
              .shared_by = first_line(folder / "shared_cpu_list")};
    }
  }
  return last;
}

// Processors with several last-level caches can keep as much as all of them together.
std::int64_t last_level_cache_bytes(const std::vector<int>& processors) {
  std::int64_t total = 0;
  std::set<std::string> counted;
  for (const int processor : processors) {
    const CacheInstance cache = last_cache_of(processor);
    if (cache.level > 0 && counted.insert(cache.shared_by).second) {
      total += cache.bytes;
    }
  }
  if (total > 0) {
    return total;
  }
  return std::max({sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE), 0L});
}

std::map<std::string, double> clocks_mhz(const std::vector<int>& processors) {
  std::map<std::string, double> clocks;
  for (const int processor : processors) {
    const std::filesystem::path folder = processor_folder(processor) + "/cpufreq";
    const auto current = leading_number(first_line(folder / "scaling_cur_freq"));
    const auto limit = leading_number(first_line(folder / "scaling_max_freq"));
    if (!current || !limit) {
      continue;
    }
    const double mhz = static_cast<double>(*current) / 1000;
    const double limit_mhz = static_cast<double>(*limit) / 1000;
    clocks["lowest"] = std::min(clocks.try_emplace("lowest", mhz).first->second, mhz);
    clocks["highest"] = std::max(clocks["highest"], mhz);
    clocks["limit"] = std::max(clocks["limit"], limit_mhz);
  }
  return clocks;
}

}  // namespace

std::vector<int> allowed_processors() {
  std::vector<int> processors;
  cpu_set_t* set = CPU_ALLOC(max_processors);
  const std::size_t bytes = CPU_ALLOC_SIZE(max_processors);
  CPU_ZERO_S(bytes, set);
  if (sched_getaffinity(0, bytes, set) == 0) {
    for (std::size_t i = 0; i < max_processors; ++i) {
      if (CPU_ISSET_S(i, bytes, set)) {
        processors.push_back(static_cast<int>(i));
      }
    }
  }
  CPU_FREE(set);
  if (processors.empty()) {
    processors.push_back(0);
  }
  return processors;
}

MachineRecord describe_machine() {
  const std::vector<int> processors = allowed_processors();
  MachineRecord machine;
  machine.processor = processor_name();
  utsname system{};
  if (uname(&system) == 0) {
    machine.architecture = static_cast<const char*>(system.machine);
    machine.kernel = static_cast<const char*>(system.release);
  }
  machine.cores = static_cast<int>(processors.size());
  machine.memory_bytes = memory_bytes();
  machine.cache_bytes = last_level_cache_bytes(processors);
  machine.clocks_mhz = clocks_mhz(processors);
  machine.landlock_abi = landlock_abi();
  return machine;
}

}  // namespace kernelpro
