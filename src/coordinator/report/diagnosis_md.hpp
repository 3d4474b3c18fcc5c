// A diagnosis as Markdown.
#pragma once

#include <string>

#include "common/model/orders.hpp"

namespace kernelpro {

// With `raw`: all figures with their origin too, and what is missing with its reason.
[[nodiscard]] std::string diagnosis_markdown(const Diagnosed& diagnosed, bool raw);

}  // namespace kernelpro
