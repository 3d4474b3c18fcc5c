// Reads a JSON document strictly.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/chacha.hpp"
#include "common/base/result.hpp"

namespace kernelpro::wire {

[[nodiscard]] std::string joined(const std::vector<std::string>& names);  // "a, b"

// A place in a document: a value and the JSON pointer that leads to it. The first complaint about
// any place of a document is kept in `failure`; after it, and at a place that does not exist, every
// read gives a default value, so that readers need no check of their own between fields.
class Place {
 public:
  Place() = default;  // does not exist
  Place(const nlohmann::json* value, std::string pointer, std::optional<Error>& failure)
      : value_(value), pointer_(std::move(pointer)), failure_(&failure) {}

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool truth() const;
  [[nodiscard]] double number() const;  // null is NaN
  [[nodiscard]] double finite() const;  // null is an error
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] int small_integer() const;
  [[nodiscard]] std::uint64_t hexadecimal() const;  // "0x" and 16 digits
  [[nodiscard]] Key key() const;                    // 64 hexadecimal digits
  [[nodiscard]] std::vector<std::int64_t> integers() const;
  [[nodiscard]] const nlohmann::json* raw() const;  // as it is; nullptr: there is none

  // The elements of an array; the members of an object. Empty when it is something else.
  [[nodiscard]] std::vector<Place> items() const;
  [[nodiscard]] std::vector<std::pair<std::string, Place>> members() const;

  // Of an object; anything else has no key. A missing key is an error.
  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] Place at(const std::string& key) const;

  void complain(std::string message) const;
  // "found the number 3, expected a string"
  void complain_expected(const std::string& expected) const;
  void expect_object() const;

 private:
  // No value, or a document that has already failed.
  [[nodiscard]] bool gone() const { return value_ == nullptr || failure_->has_value(); }
  [[nodiscard]] std::string text_or_nothing() const;
  bool holds(bool fits, const char* expected) const;  // complains unless it fits

  const nlohmann::json* value_ = nullptr;
  std::string pointer_;
  std::optional<Error>* failure_ = nullptr;
};

}  // namespace kernelpro::wire
