// A diagnosis as a page.
#pragma once

#include <string>

#include "common/model/orders.hpp"

namespace kernelpro::html {

[[nodiscard]] std::string diagnosis_page(const Diagnosed& diagnosed);

}  // namespace kernelpro::html
