#include "common/base/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace kernelpro {

namespace {

std::optional<std::int64_t> number_in(const char* file) {
  std::ifstream stream(file);
  std::int64_t number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

std::int64_t machine_bytes() {
  std::ifstream stream("/proc/meminfo");
  std::int64_t kibibytes = 0;
  for (std::string word; stream >> word;) {
    if (word == "MemAvailable:" && stream >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return 0;
}

}  // namespace

std::int64_t available_memory_bytes() {
  const std::int64_t machine = machine_bytes();
  // The group of a container, whose root is its own; without a limit the file says "max".
  const std::optional<std::int64_t> limit = number_in("/sys/fs/cgroup/memory.max");
  const std::optional<std::int64_t> used = number_in("/sys/fs/cgroup/memory.current");
  return limit && used ? std::min(machine, std::max<std::int64_t>(*limit - *used, 0)) : machine;
}

std::int64_t physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? std::int64_t{pages} * page : 0;
}

}  // namespace kernelpro
