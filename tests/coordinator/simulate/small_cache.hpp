// A recording of four programs, in the forms of Kernel Tuner.
#pragma once

#include <nlohmann/json.hpp>

namespace kernelpro::testing {

// As Kernel Tuner writes a cache.
inline nlohmann::json small_cache() {
  return nlohmann::json::parse(R"({
    "device_name": "none", "kernel_name": "none", "objective": "time",
    "tune_params_keys": ["block", "kind", "unroll"],
    "tune_params": {"block": [64, 128, 32], "kind": ["row", "column"], "unroll": [0]},
    "cache": {
      "64,row,0": {"block": 64, "kind": "row", "unroll": 0, "time": 2.0, "times": [2.5, 1.5]},
      "128,row,0": {"block": 128, "kind": "row", "unroll": 0, "time": 1.0, "times": [1.0, 1.0]},
      "32,column,0": {"block": 32, "kind": "column", "unroll": 0,
                      "time": "RuntimeFailedConfig"},
      "64,column,0": {"block": 64, "kind": "column", "unroll": 0,
                      "time": "CompilationFailedConfig"}
    }})");
}

// The same as a T4 file.
inline nlohmann::json small_t4() {
  nlohmann::json results = nlohmann::json::array();
  const nlohmann::json cache = small_cache();
  for (const auto& [key, entry] : cache["cache"].items()) {
    const bool passed = entry["time"].is_number();
    nlohmann::json one = {
        {"configuration",
         {{"block", entry["block"]}, {"kind", entry["kind"]}, {"unroll", entry["unroll"]}}},
        {"invalidity", passed                                   ? "correct"
                       : entry["time"] == "RuntimeFailedConfig" ? "runtime"
                                                                : "compile"},
        {"measurements", {{{"name", "time"}, {"value", entry["time"]}, {"unit", ""}}}}};
    one["times"] = nlohmann::json::object();
    if (passed) {
      one["times"]["runtimes"] = entry["times"];
    }
    results.push_back(std::move(one));
  }
  return {{"results", results}, {"schema_version", "1.0.0"}};
}

}  // namespace kernelpro::testing
