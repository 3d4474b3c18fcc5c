// A TOML document as plain values that know their lines, with members in the file's order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

struct TomlValue {
  enum class Kind { string, integer, floating, boolean, date, array, table };

  Kind kind = Kind::table;
  int line = 0;      // of the key for a member, of the value otherwise
  std::string key;   // its name in the enclosing table; empty in an array
  std::string text;  // string
  std::int64_t integer = 0;
  double number = 0;  // floating and integer
  bool truth = false;
  std::vector<TomlValue> items;  // array: elements; table: members

  // The member of that name; nullptr when this is no table or has none.
  [[nodiscard]] const TomlValue* find(const std::string& name) const;
  // What was found, for a message: "the integer 3", "an array".
  [[nodiscard]] std::string describe() const;
};

// `file` is only named in errors, which have "file:line" as context.
[[nodiscard]] Result<TomlValue> parse_toml(const std::string& content, const std::string& file);

}  // namespace kernelpro
