// The kernels in a binary of the GPU's machine code (an ELF file in memory).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace kernelpro::trace {

// The mangled names, which point into the binary. Nothing where it is no such binary or is broken.
[[nodiscard]] std::vector<std::string_view> kernels_in(const void* cubin, std::size_t bytes);

}  // namespace kernelpro::trace
