// Landscapes of others: the recorded caches of Kernel Tuner, as AutoTuningAssociation/benchmark_hub
// publishes them.
//
// Two forms are read. A cache has "tune_params" and "cache", an entry for each configuration; its
// version, where it says one, is 1.x. A T4 file has "results" and "schema_version" 1.0.0; the
// values of its parameters are those that occur.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "coordinator/simulate/landscape.hpp"

namespace kernelpro {

// An error says what of the file is unknown, cut or inconsistent, and where.
[[nodiscard]] Result<Landscape> from_kernel_tuner(const nlohmann::json& json, std::string name);

// A file as it is; of a folder all .json and .json.gz below it, sorted, a T4 file only where its
// cache is not beside it.
[[nodiscard]] Result<std::vector<std::filesystem::path>> cache_files(
    const std::filesystem::path& place);

// "convolution_milo-A100" of convolution_milo/A100_T4.json.gz.
[[nodiscard]] std::string landscape_name(const std::filesystem::path& cache);

}  // namespace kernelpro
