#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "coordinator/simulate/agent_tree.hpp"

namespace kernelpro {

namespace {

struct Field {
  const char* name;
  double AgentModel::* value;
  bool chance;  // from 0 to 1; otherwise above 0
};

constexpr Field fields[] = {
    {"headroom", &AgentModel::headroom, false}, {"right", &AgentModel::right, true},
    {"repair", &AgentModel::repair, true},      {"pays", &AgentModel::pays, true},
    {"tires", &AgentModel::tires, true},        {"gain", &AgentModel::gain, false},
    {"fade", &AgentModel::fade, true},          {"loss", &AgentModel::loss, false},
    {"repeats", &AgentModel::repeats, true},    {"noise", &AgentModel::noise, false},
    {"dead", &AgentModel::dead, true},          {"deceptive", &AgentModel::deceptive, true},
    {"shift", &AgentModel::shift, true},        {"foresight", &AgentModel::foresight, true}};

}  // namespace

nlohmann::json to_json(const AgentLandscape& landscape) {
  nlohmann::json model;
  for (const Field& field : fields) {
    model[field.name] = landscape.model.*field.value;
  }
  return {{"landscape", 1}, {"name", landscape.name}, {"agents", std::move(model)}};
}

Result<AgentLandscape> agent_landscape_from_json(const nlohmann::json& json) {
  AgentLandscape landscape;
  landscape.name = json.value("name", "");
  const nlohmann::json& model = json.at("agents");
  for (const Field& field : fields) {
    if (!model.is_object() || !model.contains(field.name) || !model[field.name].is_number()) {
      return make_error(ErrorKind::bad_input,
                        fmt::format(R"("agents" has no number "{}")", field.name));
    }
    const double value = model[field.name];
    const bool valid = field.chance ? value >= 0 && value <= 1 : value > 0 && std::isfinite(value);
    if (!valid) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("\"{}\" is {}; expected {}", field.name, value,
                                    field.chance ? "a chance from 0 to 1" : "a number above 0"));
    }
    landscape.model.*field.value = value;
  }
  return landscape;
}

}  // namespace kernelpro
