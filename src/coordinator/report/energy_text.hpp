// Measured energy for people.
#pragma once

#include <string>

#include "common/model/energy.hpp"
#include "common/model/run.hpp"

namespace kernelpro {

// 0.000123 as "123 µJ"; three significant digits and a unit that fits.
[[nodiscard]] std::string joules_text(double joules);

// What was measured, shape by shape, and what to know of it.
[[nodiscard]] std::string energy_text(const Energy& energy);

// The finalists of a run, the best first; empty where none were measured.
[[nodiscard]] std::string ranking_text(const Run& run);

}  // namespace kernelpro
