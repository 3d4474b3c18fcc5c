// Numbers that a file gives a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "coordinator/task/token_list.hpp"

namespace kernelpro {

class FileConstants {
 public:
  // All tokens of the file.
  explicit FileConstants(Tokens tokens) : tokens_(std::move(tokens)) {}

  // Of "64", "0x40u", "4 * BLOCK" with "constexpr int BLOCK = 2 * 8;", "#define BLOCK 16" or
  // "enum { BLOCK = 16 };". Nothing where it is no whole number from 0 on, or a name has several
  // values or may change.
  [[nodiscard]] std::optional<std::int64_t> value(const Tokens& expression) const;

 private:
  [[nodiscard]] std::optional<std::int64_t> value_within(const Tokens& expression, int depth) const;
  [[nodiscard]] std::optional<std::int64_t> constant(const std::string& name, int depth) const;
  [[nodiscard]] bool is_constant(std::size_t at) const;
  [[nodiscard]] Tokens given_at(std::size_t at) const;

  Tokens tokens_;
};

}  // namespace kernelpro
