// Reads a JSON document strictly. For the files of this room only.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/chacha.hpp"
#include "common/base/result.hpp"
#include "common/model/formula.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro::wire {

// A place in a document: a value and the JSON pointer that leads to it. The first complaint about
// any place of a document is kept in `failure`; after it, and at a place that does not exist, every
// read gives a default value, so that readers need no check of their own between fields.
class Place {
 public:
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
  [[nodiscard]] Formula formula() const;
  [[nodiscard]] Interval interval() const;  // [low, high]
  [[nodiscard]] Axes axes() const;
  [[nodiscard]] std::vector<std::string> texts() const;
  [[nodiscard]] std::vector<double> numbers() const;
  [[nodiscard]] std::vector<std::int64_t> integers() const;

  // The elements of an array; the members of an object. Empty when it is something else.
  [[nodiscard]] std::vector<Place> items() const;
  [[nodiscard]] std::vector<std::pair<std::string, Place>> members() const;

  // Every item through `read`, a function from Place to a value.
  template <typename Read>
  [[nodiscard]] auto list(Read read) const {
    std::vector<decltype(read(*this))> values;
    for (const Place& item : items()) {
      values.push_back(read(item));
    }
    return values;
  }

  // Every member through `read`, by name.
  template <typename Read>
  [[nodiscard]] auto map(Read read) const {
    std::map<std::string, decltype(read(*this))> values;
    for (const auto& [name, member] : members()) {
      values.emplace(name, read(member));
    }
    return values;
  }

  // The string here through `parse`, which gives an optional; `known` lists what it takes.
  template <typename Parse>
  [[nodiscard]] auto name(Parse parse, std::string_view known) const {
    auto value = parse(std::string_view(text()));
    if (!value.has_value()) {
      complain_expected("one of " + std::string(known));
    }
    return value.has_value() ? *value : typename decltype(value)::value_type{};
  }

  void complain(std::string message) const;
  // "found the number 3, expected a string"
  void complain_expected(const std::string& expected) const;

 private:
  friend class Fields;

  // No value, or a document that has already failed.
  [[nodiscard]] bool gone() const { return value_ == nullptr || failure_->has_value(); }

  const nlohmann::json* value_;
  std::string pointer_;
  std::optional<Error>* failure_;
};

// The members of an object, by key. Call `end` after the last: a key nobody asked for is an error.
class Fields {
 public:
  explicit Fields(Place object);

  [[nodiscard]] Place at(const std::string& key);  // a missing key is an error
  [[nodiscard]] std::optional<Place> maybe(const std::string& key);
  void end() const;

 private:
  Place object_;
  std::set<std::string> known_;
};

[[nodiscard]] std::string maybe_text(Fields& fields, const std::string& key);  // "": no such key

// Reads the key "v". Call it first: another version may mean something else by every other key.
void expect_version(Fields& fields, std::int64_t expected, std::string_view what);

// Reads a whole document with `read`, a function from Place to a value.
template <typename Read>
[[nodiscard]] auto read_document(const nlohmann::json& json, Read read)
    -> Result<decltype(read(std::declval<Place>()))> {
  std::optional<Error> failure;
  auto value = read(Place(&json, "", failure));
  if (failure.has_value()) {
    return *failure;
  }
  return value;
}

}  // namespace kernelpro::wire
