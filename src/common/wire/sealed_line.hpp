// Lines with a checksum of themselves as their last key, so that no bit of them changes unseen on
// the way from one machine to another:
//
//   {"id":7,"ok":true,"result":{…},"v":1,"sum":"0123456789abcdef"}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace kernelpro::wire {

inline constexpr const char* same_on_both_sides = ": install the same kernelpro on both sides";

enum class Seal { none, whole, broken };

constexpr std::size_t seal_bytes = 25;

// `object` is the text of a JSON object with at least one key; it grows by `seal_bytes`.
[[nodiscard]] std::string sealed(std::string object);

// Of a line with or without its newline.
[[nodiscard]] Seal seal_of(std::string_view line);

// bad_input unless the line is sealed and whole.
[[nodiscard]] Status check_seal(std::string_view line);

}  // namespace kernelpro::wire
