// The texts that our GPU kernels are compiled from, carried in the program itself.
#pragma once

#include <string_view>

namespace kernelpro {

[[nodiscard]] std::string_view judge_kernels_text();
[[nodiscard]] std::string_view draw_text();
[[nodiscard]] std::string_view chacha_text();

}  // namespace kernelpro
