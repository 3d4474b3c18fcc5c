#include "support/schema.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace kernelpro::testing {
namespace {

using Adapter = valijson::adapters::NlohmannJsonAdapter;

nlohmann::json load(const std::string& name) {
  std::ifstream file(std::string(KERNELPRO_SOURCE_DIR "/schemas/") + name);
  return nlohmann::json::parse(file);
}

}  // namespace

struct SchemaFile::Parsed {
  valijson::Schema schema;
};

SchemaFile::SchemaFile(const std::string& name) : parsed_(std::make_unique<Parsed>()) {
  const nlohmann::json document = load(name);
  valijson::SchemaParser parser;
  parser.populateSchema(
      Adapter(document), parsed_->schema,
      [](const std::string& uri) {
        return new nlohmann::json(load(uri.substr(uri.rfind('/') + 1)));
      },
      [](const nlohmann::json* fetched) { delete fetched; });
}

SchemaFile::~SchemaFile() = default;

std::string SchemaFile::complaints(const nlohmann::json& value) const {
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  valijson::ValidationResults results;
  const Adapter target(value);
  if (validator.validate(parsed_->schema, target, &results)) {
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

}  // namespace kernelpro::testing
