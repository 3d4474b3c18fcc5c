// What --values says of a tensor's numbers.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/task/signature.hpp"

namespace kernelpro {

struct PlannedValues {
  std::string toml;                    // the value of `values` in task.toml
  std::optional<std::string> bound;    // the formula of what they stay below
  bool offsets = false;                // they are offsets of rows
  std::optional<std::string> rows_of;  // the tensor whose offsets they lie between
};

// Of the whole text; finite.
[[nodiscard]] std::optional<double> parse_number(const std::string& text);

// "uniform:0.5:2" as its two numbers; nothing where it is no such thing.
struct NumberRange {
  double low = 0;
  double high = 0;
};
[[nodiscard]] std::optional<NumberRange> parse_range(const std::string& text);

// `text` is "index:m" for example, and `flag` is named in errors. Formulas and names are not looked
// at.
[[nodiscard]] Result<PlannedValues> parse_values(const EntryParameter& parameter,
                                                 const std::string& flag, const std::string& text);

}  // namespace kernelpro
