// Runs and diagnoses as pages: one HTML file each that needs nothing else.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"

namespace kernelpro {

// `file` is written whole or not at all; one that is there is replaced.
[[nodiscard]] Status write_run_page(const std::filesystem::path& store, const std::string& run,
                                    const std::filesystem::path& file);
[[nodiscard]] Status write_diagnosis_page(const Diagnosed& diagnosed,
                                          const std::filesystem::path& file);

}  // namespace kernelpro
