// How fast and in how much memory a large table of ncu is read, as one JSON value.
//
//   cmake --build --preset release && build/release/bin/ncu_csv >
//   bench/results/h200/ncu_csv.json
//
// The table has the launches of tests/worker/profile/data/raw.csv again and again. Goals for 50 MB:
// at most 1 s and 200 MB.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "must.hpp"
#include "worker/ceilings/machine.hpp"
#include "worker/profile/ncu_report.hpp"

namespace {

using namespace kernelpro;

constexpr std::size_t table_bytes = 50'000'000;
constexpr int repeats = 5;

// The head and the units, then the launches until the table is large enough.
void write_table(const std::filesystem::path& path) {
  const std::string small = must(
      read_file(std::filesystem::path(KERNELPRO_SOURCE_DIR) / "tests/worker/profile/data/raw.csv"));
  const std::size_t launches = small.find('\n', small.find('\n') + 1) + 1;
  std::ofstream file(path, std::ios::binary);
  file << small;
  for (std::size_t size = small.size(); size < table_bytes; size += small.size() - launches) {
    file << small.substr(launches);
  }
  if (!file.flush()) {
    give_up("cannot write " + path.string());
  }
}

}  // namespace

int main() {
  const ScratchDir folder = must(ScratchDir::create("ncu_csv"));
  const std::filesystem::path path = folder.path() / "raw.csv";
  write_table(path);
  std::vector<double> seconds;
  std::size_t launches = 0;
  std::size_t metrics = 0;
  for (int i = 0; i < repeats; ++i) {
    const std::int64_t start = now_ns();
    const MappedFile file = must(MappedFile::open(path));
    const NcuRawReport report = must(read_ncu_raw(file.text()));
    seconds.push_back(static_cast<double>(now_ns() - start) / 1e9);
    if (!report.complete) {
      give_up(report.problem);
    }
    launches = report.launches.size();
    metrics = report.columns.size();
  }
  std::sort(seconds.begin(), seconds.end());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const nlohmann::json out = {{"table_bytes", std::filesystem::file_size(path)},
                              {"launches", launches},
                              {"metrics", metrics},
                              {"median_seconds", seconds[seconds.size() / 2]},
                              {"most_seconds", seconds.back()},
                              {"goal_seconds", 1},
                              {"peak_resident_bytes", usage.ru_maxrss * 1024},
                              {"goal_bytes", 200'000'000},
                              {"machine", to_json(describe_machine())},
                              {"version", KERNELPRO_VERSION}};
  std::puts(out.dump(2).c_str());
  return 0;
}
