// Divisions as the products that could stand in their place.
#pragma once

#include <string>

namespace kernelpro {

// `line`, a division or square root of x86-64 (as objdump writes it) or arm64, with an instruction
// that takes as long as a product and has the same operands.
[[nodiscard]] std::string product_in_place_of(const std::string& line);

}  // namespace kernelpro
