// What tests of reading and writing JSON share.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/base/random.hpp"
#include "common/base/result.hpp"
#include "common/wire/json.hpp"

namespace kernelpro::testing {

template <typename T>
std::string error_of(const Result<T>& result) {
  return result.ok() ? "no error" : result.error().text();
}

// Through text, as between processes.
inline nlohmann::json through_text(const nlohmann::json& value) {
  const Result<nlohmann::json> parsed = parse_json(value.dump());
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? *parsed : nlohmann::json();
}

// `text` with one thing wrong in it.
inline std::string mutated(std::string text, Random& random) {
  constexpr std::string_view alphabet = "{}[]\",:0123456789.-eEnultrfasx\\ \xff";
  const std::size_t place = random.below(text.size());
  const char letter = alphabet[random.below(alphabet.size())];
  switch (random.below(4)) {
    case 0:
      text[place] = letter;
      break;
    case 1:
      text.insert(place, 1, letter);
      break;
    case 2:
      text.erase(place, 1 + random.below(8));
      break;
    default:
      text.resize(place);
  }
  return text;
}

}  // namespace kernelpro::testing
