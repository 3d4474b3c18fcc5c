// The JSON of plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelpro::wire {

// `text` with every byte that is no part of valid UTF-8 replaced by U+FFFD, as JSON knows only
// Unicode: compilers and candidates print what they like.
[[nodiscard]] std::string valid_utf8(std::string_view text);

[[nodiscard]] std::string hexadecimal(std::uint64_t value);  // "0x" and 16 digits

}  // namespace kernelpro::wire
