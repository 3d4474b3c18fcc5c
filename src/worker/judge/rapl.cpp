#include "worker/judge/rapl.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "common/base/file.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr double joules_per_count = 1e-6;
// The counters move every millisecond, so any reading is fresh; a thread that woke more often would
// show in what it measures.
constexpr std::int64_t rapl_poll_ns = 50'000'000;

Result<std::uint64_t> read_count(const fs::path& file) {
  KP_LET(const std::string text, read_file(file));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) {
    return make_error(ErrorKind::io, "expected a number", file.string());
  }
  return value;
}

// One package: its counter begins again at 0 beyond `range`.
struct Package {
  fs::path counter;
  std::uint64_t range = 0;
  std::uint64_t last = 0;
};

class Rapl : public EnergyMeter {
 public:
  explicit Rapl(std::vector<Package> packages) : packages_(std::move(packages)) {}

  [[nodiscard]] std::string name() const override {
    return "RAPL of " + std::to_string(packages_.size()) +
           (packages_.size() == 1 ? " package" : " packages");
  }

  [[nodiscard]] Result<double> joules() override {
    for (Package& package : packages_) {
      KP_LET(const std::uint64_t now, read_count(package.counter));
      total_ += now >= package.last ? now - package.last : package.range - package.last + now;
      package.last = now;
    }
    return static_cast<double>(total_) * joules_per_count;
  }

  [[nodiscard]] std::int64_t poll_ns() const override { return rapl_poll_ns; }
  [[nodiscard]] std::map<std::string, double> circumstances() override { return {}; }

 private:
  std::vector<Package> packages_;
  std::uint64_t total_ = 0;  // microjoules since it was opened
};

// Nothing for what is no package: a part of one, or the whole platform, which counts it again.
Result<std::unique_ptr<Package>> open_package(const fs::path& folder) {
  const Result<std::string> name = read_file(folder / "name");
  if (!name || !name->starts_with("package-")) {
    return std::unique_ptr<Package>();
  }
  auto package = std::make_unique<Package>();
  package->counter = folder / "energy_uj";
  if (access(package->counter.c_str(), R_OK) != 0 && errno == EACCES) {
    return make_error(ErrorKind::environment,
                      "the powercap files may be read by root only: run as root, or make " +
                          package->counter.string() + " readable");
  }
  const Result<std::uint64_t> range = read_count(folder / "max_energy_range_uj");
  const Result<std::uint64_t> now = read_count(package->counter);
  if (!range || !now) {
    return range ? now.error() : range.error();
  }
  package->range = *range;
  package->last = *now;
  return package;
}

}  // namespace

fs::path powercap_folder() {
  const char* given = std::getenv("KERNELPRO_POWERCAP");
  return given != nullptr && *given != 0 ? given : "/sys/class/powercap";
}

Result<std::unique_ptr<EnergyMeter>> open_rapl(const fs::path& folder) {
  std::vector<fs::path> domains;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().filename().string().starts_with("intel-rapl:")) {
      domains.push_back(entry.path());
    }
  }
  std::sort(domains.begin(), domains.end());
  std::vector<Package> packages;
  for (const fs::path& domain : domains) {
    KP_LET(std::unique_ptr<Package> package, open_package(domain));
    if (package) {
      packages.push_back(std::move(*package));
    }
  }
  if (packages.empty()) {
    return make_error(ErrorKind::environment,
                      "this processor has no RAPL counters (none in " + folder.string() + ")");
  }
  return std::unique_ptr<EnergyMeter>(std::make_unique<Rapl>(std::move(packages)));
}

}  // namespace kernelpro
