#include "coordinator/app/landscapes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/file.hpp"
#include "coordinator/simulate/kernel_tuner.hpp"

namespace kernelpro {

namespace fs = std::filesystem;

namespace {

constexpr const char* landscape_ending = ".json.gz";

Result<std::vector<fs::path>> all_files(const std::vector<fs::path>& places) {
  std::vector<fs::path> all;
  for (const fs::path& place : places) {
    KP_LET(const std::vector<fs::path> files, cache_files(place));
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

Result<Landscape> read_cache(const fs::path& file) {
  KP_LET(const nlohmann::json json, read_packed_json(file));
  Result<Landscape> landscape = from_kernel_tuner(json, landscape_name(file));
  return landscape ? std::move(landscape)
                   : Result<Landscape>(make_error(landscape.error().kind, landscape.error().text(),
                                                  file.string()));
}

// Reads one file after the other by `read`, until a stop.
template <typename Kind>
Result<std::vector<Kind>> read_all(const std::vector<fs::path>& files,
                                   Result<Kind> (*read)(const fs::path&), const Watcher& watcher,
                                   const std::stop_token& stop) {
  std::vector<Kind> all;
  for (const fs::path& file : files) {
    if (stop.stop_requested()) {
      return make_error(ErrorKind::interrupted, "interrupted");
    }
    tell(watcher, Activity{"reading " + file.filename().string()});
    KP_LET(Kind landscape, read(file));
    all.push_back(std::move(landscape));
  }
  return all;
}

Status check_names(const std::vector<Landscape>& all) {
  std::set<std::string> names;
  for (const Landscape& one : all) {
    if (!names.insert(one.name).second) {
      return make_error(ErrorKind::bad_input,
                        "two files would be the landscape \"" + one.name + "\": give one of them");
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ImportedLandscape>> import_landscapes(const ImportRequest& request,
                                                         const Watcher& watcher,
                                                         std::stop_token stop) {
  KP_LET(const std::vector<fs::path> files, all_files(request.caches));
  KP_LET(const std::vector<Landscape> all, read_all(files, read_cache, watcher, stop));
  KP_TRY(check_names(all));
  KP_TRY(make_directories(request.into));
  std::vector<ImportedLandscape> imported;
  for (const Landscape& one : all) {
    const fs::path file = request.into / (one.name + landscape_ending);
    KP_TRY(write_landscape(one, file));
    const auto passed = std::ranges::count(one.programs, Outcome::passed, &Recorded::outcome);
    imported.push_back({one.name, file, one.programs.size(), static_cast<std::size_t>(passed)});
  }
  return imported;
}

nlohmann::json to_json(const std::vector<ImportedLandscape>& imported) {
  nlohmann::json list = nlohmann::json::array();
  for (const ImportedLandscape& one : imported) {
    list.push_back({{"name", one.name},
                    {"file", one.file.string()},
                    {"programs", one.programs},
                    {"passed", one.passed}});
  }
  return {{"landscapes", std::move(list)}};
}

Result<std::vector<fs::path>> write_agent_landscapes(const fs::path& into) {
  std::vector<fs::path> written;
  for (const AgentLandscape& one : agent_landscapes()) {
    const fs::path folder = into / (one.proof ? "proof" : "tuning");
    KP_TRY(make_directories(folder));
    written.push_back(folder / (one.name + ".json"));
    KP_TRY(write_file_atomic(written.back(), to_json(one).dump(1) + "\n"));
  }
  return written;
}

Result<Simulation> simulate_landscapes(const SimulateRequest& request, const Watcher& watcher,
                                       std::stop_token stop) {
  KP_LET(const std::vector<fs::path> files, all_files(request.landscapes));
  KP_LET(const std::vector<AnyLandscape> all, read_all(files, read_landscape, watcher, stop));
  tell(watcher, Activity{"simulating"});
  KP_LET(Simulation simulation, simulate(request.settings, all, stop));
  if (!request.svg.empty()) {
    KP_TRY(write_file_atomic(request.svg, simulation_svg(simulation)));
  }
  return simulation;
}

}  // namespace kernelpro
