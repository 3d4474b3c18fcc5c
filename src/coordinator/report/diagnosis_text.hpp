// A diagnosis for people at a terminal, in at most 100 columns.
#pragma once

#include <string>

#include "common/model/orders.hpp"

namespace kernelpro {

// With `raw`: all figures with their origin too, and what is missing with its reason.
[[nodiscard]] std::string diagnosis_text(const Diagnosed& diagnosed, bool raw);

}  // namespace kernelpro
