#include "coordinator/llm/batch_body.hpp"

#include <nlohmann/json.hpp>

#include "common/base/hash.hpp"
#include "coordinator/llm/openai_form.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

// Not thrown: null where it is none.
json body_object(const std::string& text) {
  json body = json::parse(text, nullptr, false);
  return body.is_object() ? body : json();
}

// Takes them out of the body; the limit under its new name.
json take_settings(json& body) {
  json settings = json::object();
  for (const std::string_view key : {std::string_view("model"), std::string_view("temperature"),
                                     old_limit_name, new_limit_name}) {
    if (const auto found = body.find(key); found != body.end()) {
      settings[std::string(key == old_limit_name ? new_limit_name : key)] = *found;
      body.erase(found);
    }
  }
  return settings;
}

}  // namespace

std::string prompt_hash(const std::string& body) {
  json asked = body_object(body);
  if (asked.is_null()) {
    return sha256(body);
  }
  (void)take_settings(asked);
  asked.erase("stream");
  asked.erase("stream_options");
  return sha256(asked.dump());
}

std::string with_settings_of(const std::string& kept, const std::string& wanted) {
  json body = body_object(kept);
  json model = body_object(wanted);
  if (body.is_null() || model.is_null()) {
    return kept;
  }
  const json settings = take_settings(model);
  if (take_settings(body) == settings) {
    return kept;
  }
  body.update(settings);
  return body.dump();
}

}  // namespace kernelpro
