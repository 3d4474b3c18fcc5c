// How a request that is not proper is refused.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kernelpro::llm_server {

// Thrown while a request is checked, caught where it is answered.
struct Refusal : std::runtime_error {
  Refusal(int the_status, std::string the_type, const std::string& message,
          std::string the_code = {})
      : std::runtime_error(message),
        status(the_status),
        type(std::move(the_type)),
        code(std::move(the_code)) {}

  int status;
  std::string type;
  std::string code;
};

inline void require(bool good, const std::string& message) {
  if (!good) {
    throw Refusal(400, "invalid_request_error", message);
  }
}

// Every key of `object` is one of these.
inline void require_keys(const nlohmann::json& object, const std::string& where,
                         std::initializer_list<std::string_view> known) {
  require(object.is_object(), where + ": should be an object");
  for (const auto& [key, value] : object.items()) {
    bool found = false;
    for (const std::string_view name : known) {
      found = found || key == name;
    }
    require(found, where + "." + key + ": extra inputs are not permitted");
  }
}

inline std::string require_text(const nlohmann::json& object, const std::string& key,
                                const std::string& where) {
  require(object.contains(key) && object[key].is_string(),
          where + "." + key + ": should be a string");
  return object[key].get<std::string>();
}

inline void require_count(const nlohmann::json& value, const std::string& where) {
  require(value.is_number_integer() && value.get<std::int64_t>() > 0,
          where + ": should be a whole number greater than 0");
}

inline void require_range(const nlohmann::json& object, const std::string& key, double most) {
  if (object.contains(key)) {
    require(object[key].is_number() && object[key].get<double>() >= 0 &&
                object[key].get<double>() <= most,
            key + ": out of its range");
  }
}

}  // namespace kernelpro::llm_server
