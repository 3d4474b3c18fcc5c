// Keeps a key out of everything that is shown or kept, whoever put it there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace kernelpro {

// A key shorter than this is no secret ("none", "EMPTY") and stays: taking such a word out of all
// text would spoil it.
inline constexpr std::size_t shortest_secret = 8;

// `text` with "[key]" wherever the key is, also where its slashes are written "\/", as JSON may.
[[nodiscard]] std::string redacted(std::string text, std::string_view key);

// The same for text that comes in pieces, with a key cut anywhere.
class Redactor {
 public:
  explicit Redactor(std::string key) : key_(std::move(key)) {}

  // What may be shown so far; the rest is held back until it cannot be the beginning of the key.
  [[nodiscard]] std::string feed(std::string_view piece);
  [[nodiscard]] std::string finish();

 private:
  std::string key_;
  std::string held_;
};

}  // namespace kernelpro
