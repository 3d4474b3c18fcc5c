// The JSON form of a model's answer, as it is kept.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro {

[[nodiscard]] nlohmann::json to_json(const ChatAnswer&);
// As strict as common/wire/json.hpp.
[[nodiscard]] Result<ChatAnswer> chat_answer_from_json(const nlohmann::json& json);

// An array with `write` of each value.
template <typename T, typename Json>
[[nodiscard]] Json json_list(const std::vector<T>& values, Json (*write)(const T&)) {
  Json array = Json::array();
  for (const T& value : values) {
    array.push_back(write(value));
  }
  return array;
}

// The arguments of a call as an object. What is no JSON object is put into one, under
// "unreadable_arguments": providers take nothing else back, and the model shall see what it wrote.
[[nodiscard]] nlohmann::json arguments_object(const std::string& arguments);

// The schema of a tool's arguments; one without parameters where it is no JSON object.
[[nodiscard]] nlohmann::json schema_object(const std::string& schema);

}  // namespace kernelpro
