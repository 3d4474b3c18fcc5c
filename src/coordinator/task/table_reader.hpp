// Strict reading of TOML tables: every key known, every type as expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/formula.hpp"
#include "coordinator/task/toml_value.hpp"

namespace kernelpro {

// The first thing wrong with a file. Readers go on with defaults after an error, so a caller asks
// once, at the end.
class FirstError {
 public:
  explicit FirstError(std::string file) : file_(std::move(file)) {}

  void add(int line, const std::string& key, const std::string& message);
  [[nodiscard]] Status status() const { return status_; }

 private:
  std::string file_;
  Status status_;
};

class TableReader {
 public:
  // `key` is the table's own place in the file ("input"), empty for the whole file. A value that
  // is no table, and every key not in `known`, is an error.
  TableReader(const TomlValue& table, std::string key, FirstError& errors,
              const std::vector<std::string>& known);

  // nullptr when the key is absent.
  [[nodiscard]] const TomlValue* find(const std::string& name) const;
  // As find, and absence is an error.
  [[nodiscard]] const TomlValue* require(const std::string& name) const;

  // Without a fallback the key must be there.
  [[nodiscard]] std::string string(const std::string& name,
                                   const std::optional<std::string>& fallback = {}) const;
  [[nodiscard]] double number(const std::string& name, std::optional<double> fallback = {}) const;
  [[nodiscard]] bool boolean(const std::string& name, bool fallback) const;
  // A string or a whole number.
  [[nodiscard]] Formula formula(const std::string& name,
                                const std::optional<std::string>& fallback = {}) const;
  // An array, empty when the key is absent.
  [[nodiscard]] std::vector<std::string> strings(const std::string& name) const;
  [[nodiscard]] std::vector<Formula> formulas(const std::string& name) const;

  // Elements of single values, for arrays and maps the caller walks.
  [[nodiscard]] std::optional<std::int64_t> integer_in(const TomlValue& value,
                                                       const std::string& name) const;
  [[nodiscard]] std::optional<double> number_in(const TomlValue& value,
                                                const std::string& name) const;
  [[nodiscard]] Formula formula_in(const TomlValue& value, const std::string& name) const;

  // The key's full name: "input.shape".
  [[nodiscard]] std::string full(const std::string& name) const;
  // An error at the key's line, or the table's when the key is absent.
  void fail(const std::string& name, const std::string& message) const;
  void fail_at(const TomlValue& value, const std::string& name, const std::string& message) const;

 private:
  const TomlValue* table_;
  std::string key_;
  FirstError* errors_;
};

}  // namespace kernelpro
