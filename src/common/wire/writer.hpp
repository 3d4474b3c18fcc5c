// The JSON of plain values.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kernelpro::wire {

// `text` with every byte that is no part of valid UTF-8 replaced by U+FFFD, as JSON knows only
// Unicode: compilers and candidates print what they like.
[[nodiscard]] std::string valid_utf8(std::string_view text);

[[nodiscard]] nlohmann::json write_text(std::string_view text);
[[nodiscard]] nlohmann::json write_hexadecimal(std::uint64_t value);  // "0x" and 16 digits
[[nodiscard]] nlohmann::json write_texts(const std::vector<std::string>& texts);

// An array with `write` of each value.
template <typename T, typename Write>
[[nodiscard]] auto write_list(const std::vector<T>& values, Write write) {
  using Json = std::invoke_result_t<Write, const T&>;
  Json array = Json::array();
  for (const T& value : values) {
    array.push_back(write(value));
  }
  return array;
}

}  // namespace kernelpro::wire
