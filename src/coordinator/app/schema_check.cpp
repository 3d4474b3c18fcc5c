#include "coordinator/app/schema_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kernelpro {

namespace {

bool has_type(const nlohmann::json& value, const std::string& type) {
  if (type == "object") {
    return value.is_object();
  }
  if (type == "array") {
    return value.is_array();
  }
  if (type == "string") {
    return value.is_string();
  }
  if (type == "boolean") {
    return value.is_boolean();
  }
  return type == "integer" ? value.is_number_integer()
                           : value.is_number() && std::isfinite(value.get<double>());
}

std::string complaint(const std::string& place, const std::string& text) {
  return fmt::format("{}: {}", place.empty() ? "arguments" : place, text);
}

// The bounds of what is counted: a number itself, characters of a text, entries of a list.
std::string bounds_complaint(const nlohmann::json& schema, const nlohmann::json& value,
                             const std::string& place) {
  struct Bounds {
    const char* least;
    const char* most;
    const char* what;
  };
  double count = 0;
  Bounds bounds{"minimum", "maximum", ""};
  if (value.is_number()) {
    count = value.get<double>();
  } else if (value.is_string()) {
    count = static_cast<double>(value.get_ref<const std::string&>().size());
    bounds = {"minLength", "maxLength", " characters"};
  } else if (value.is_array()) {
    count = static_cast<double>(value.size());
    bounds = {"minItems", "maxItems", " entries"};
  } else {
    return "";
  }
  if (schema.contains(bounds.least) && count < schema[bounds.least].get<double>()) {
    return complaint(place, fmt::format("expected at least {}{}, found {:g}",
                                        schema[bounds.least].dump(), bounds.what, count));
  }
  if (schema.contains(bounds.most) && count > schema[bounds.most].get<double>()) {
    return complaint(place, fmt::format("expected at most {}{}, found {:g}",
                                        schema[bounds.most].dump(), bounds.what, count));
  }
  return "";
}

std::string known_keys(const nlohmann::json& properties) {
  std::string names;
  for (const auto& [name, unused] : properties.items()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

std::string members_complaint(const nlohmann::json& schema, const nlohmann::json& value,
                              const std::string& place) {
  const nlohmann::json properties = schema.value("properties", nlohmann::json::object());
  for (const nlohmann::json& key : schema.value("required", nlohmann::json::array())) {
    if (!value.contains(key.get<std::string>())) {
      return complaint(place, fmt::format("{} is missing", key.get<std::string>()));
    }
  }
  for (const auto& [key, member] : value.items()) {
    const nlohmann::json& others = schema.contains("additionalProperties")
                                       ? schema["additionalProperties"]
                                       : nlohmann::json(true);
    if (!properties.contains(key) && others == nlohmann::json(false)) {
      return complaint(place, fmt::format("there is no \"{}\"; known are {}", key.substr(0, 100),
                                          known_keys(properties)));
    }
    const nlohmann::json& own = properties.contains(key) ? properties[key] : others;
    if (std::string text = own.is_object() ? schema_complaint(own, member, place + "/" + key) : "";
        !text.empty()) {
      return text;
    }
  }
  return "";
}

}  // namespace

std::string schema_complaint(const nlohmann::json& schema, const nlohmann::json& value,
                             const std::string& place) {
  if (const std::string type = schema.value("type", ""); !type.empty() && !has_type(value, type)) {
    return complaint(
        place, fmt::format("expected {} {}, found {}", type.find_first_of("aio") == 0 ? "an" : "a",
                           type, value.type_name()));
  }
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
    return complaint(place, fmt::format("expected one of {}", schema["enum"].dump()));
  }
  if (std::string text = bounds_complaint(schema, value, place); !text.empty()) {
    return text;
  }
  if (value.is_object()) {
    return members_complaint(schema, value, place);
  }
  if (value.is_array() && schema.contains("items")) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (std::string text =
              schema_complaint(schema["items"], value[i], fmt::format("{}/{}", place, i));
          !text.empty()) {
        return text;
      }
    }
  }
  return "";
}

}  // namespace kernelpro
