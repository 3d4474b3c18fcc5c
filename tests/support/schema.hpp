// Validates JSON against the project's schemas, for tests of whatever writes JSON.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kernelpro::testing {

// One file of schemas/, with the files it refers to: SchemaFile("verdict.json"). A schema that
// cannot be read ends the test with an exception.
class SchemaFile {
 public:
  explicit SchemaFile(const std::string& name);
  ~SchemaFile();
  SchemaFile(const SchemaFile&) = delete;
  SchemaFile& operator=(const SchemaFile&) = delete;

  // What is wrong with `value`, one complaint a line; empty when it is valid.
  [[nodiscard]] std::string complaints(const nlohmann::json& value) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace kernelpro::testing
