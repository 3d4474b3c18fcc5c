// Recorded landscapes: made of others' files, and searched.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/simulate/simulate.hpp"

namespace kernelpro {

struct ImportRequest {
  std::vector<std::filesystem::path> caches;  // files of Kernel Tuner, or folders of them
  std::filesystem::path into;                 // folder
};

struct ImportedLandscape {
  std::string name;
  std::filesystem::path file;
  std::size_t programs = 0;
  std::size_t passed = 0;
};

// All are read before the first is written.
[[nodiscard]] Result<std::vector<ImportedLandscape>> import_landscapes(const ImportRequest& request,
                                                                       const Watcher& watcher,
                                                                       std::stop_token stop);

[[nodiscard]] nlohmann::json to_json(const std::vector<ImportedLandscape>& imported);

// The models of agents that trees are drawn from, a file each, in the folders `tuning` and `proof`
// of this one.
[[nodiscard]] Result<std::vector<std::filesystem::path>> write_agent_landscapes(
    const std::filesystem::path& into);

struct SimulateRequest {
  std::vector<std::filesystem::path> landscapes;  // files, or folders of them
  SimulateSettings settings;
  std::filesystem::path svg;  // the picture to write; empty: none
};

[[nodiscard]] Result<Simulation> simulate_landscapes(const SimulateRequest& request,
                                                     const Watcher& watcher, std::stop_token stop);

}  // namespace kernelpro
