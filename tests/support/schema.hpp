// Validates JSON against the project's schemas, for tests of whatever writes JSON.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace kernelpro::testing {

// One file of schemas/, with the files it refers to: SchemaFile("verdict.json"). A schema that
// cannot be read ends the test with an exception.
class SchemaFile {
 public:
  explicit SchemaFile(const std::string& name) {
    using Adapter = valijson::adapters::NlohmannJsonAdapter;
    const nlohmann::json document = load(name);
    valijson::SchemaParser parser;
    parser.populateSchema(
        Adapter(document), schema_,
        [](const std::string& uri) {
          return new nlohmann::json(load(uri.substr(uri.rfind('/') + 1)));
        },
        [](const nlohmann::json* fetched) { delete fetched; });
  }

  // What is wrong with `value`, one complaint a line; empty when it is valid.
  [[nodiscard]] std::string complaints(const nlohmann::json& value) const {
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    valijson::ValidationResults results;
    const valijson::adapters::NlohmannJsonAdapter target(value);
    if (validator.validate(schema_, target, &results)) {
      return {};
    }
    std::string text;
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
      for (const std::string& step : error.context) {
        text += step;
      }
      text += ": " + error.description + "\n";
    }
    return text;
  }

 private:
  static nlohmann::json load(const std::string& name) {
    std::ifstream file(std::string(KERNELPRO_SOURCE_DIR "/schemas/") + name);
    return nlohmann::json::parse(file);
  }

  valijson::Schema schema_;
};

}  // namespace kernelpro::testing
