// schemas/openapi.json, which requests are held against. For the files of this room only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "coordinator/serve/api.hpp"

namespace kernelpro::serve {

struct Api::Description {
  nlohmann::json whole;
  nlohmann::json evaluate;  // the schema of its body, with what it refers to
  nlohmann::json diagnose;
};

// Texts of any bytes as JSON.
[[nodiscard]] inline std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace kernelpro::serve
