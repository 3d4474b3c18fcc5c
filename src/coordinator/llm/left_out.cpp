#include "coordinator/llm/left_out.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/wire/json.hpp"
#include "coordinator/llm/lower_case.hpp"
#include "coordinator/llm/openai_form.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

struct Parameter {
  std::string_view name;
  bool LeftOut::* left_out;
};

constexpr std::array<Parameter, 4> parameters = {{{old_limit_name, &LeftOut::limit_name},
                                                  {new_limit_name, &LeftOut::limit_name},
                                                  {"temperature", &LeftOut::temperature},
                                                  {"stream_options", &LeftOut::stream_options}}};

// All that an answer says, in lower case, without the request that some repeat in it.
void gather_words(const json& value, std::string& words) {
  if (value.is_string()) {
    words += lower_case(value.get_ref<const std::string&>()) + '\n';
  } else if (value.is_array()) {
    for (const json& one : value) {
      gather_words(one, words);
    }
  } else if (value.is_object()) {
    for (const auto& [key, one] : value.items()) {
      if (key != "input") {
        gather_words(one, words);
      }
    }
  }
}

std::string words_of(const std::string& answer) {
  const Result<json> parsed = parse_json(answer);
  if (!parsed) {
    return lower_case(answer);
  }
  std::string words;
  gather_words(*parsed, words);
  return words;
}

// That a parameter is too large or out of its range is another matter.
bool says_unsupported(std::string_view words) {
  constexpr std::array<std::string_view, 10> ways = {
      "unsupported", "not support",   "unknown",     "unrecognized", "unexpected",
      "extra input", "not permitted", "not allowed", "deprecated",   "instead"};
  return std::any_of(ways.begin(), ways.end(), [words](std::string_view way) {
    return words.find(way) != std::string_view::npos;
  });
}

}  // namespace

LeftOut both(const LeftOut& one, const LeftOut& other) {
  return {.limit_name = one.limit_name || other.limit_name,
          .temperature = one.temperature || other.temperature,
          .stream_options = one.stream_options || other.stream_options};
}

std::string body_without(const LeftOut& left_out, const std::string& body) {
  if (left_out == LeftOut{}) {
    return body;
  }
  json changed = json::parse(body);
  if (left_out.temperature) {
    changed.erase("temperature");
  }
  if (left_out.stream_options) {
    changed.erase("stream_options");
  }
  if (left_out.limit_name) {
    const bool is_old = changed.contains(old_limit_name);
    const std::string sent(is_old ? old_limit_name : new_limit_name);
    const json limit = changed.value(sent, json());
    changed.erase(sent);
    changed[std::string(is_old ? new_limit_name : old_limit_name)] = limit;
  }
  return changed.dump();
}

std::optional<LeftOut> leave_out_next(const LeftOut& left_out, const std::string& sent, int status,
                                      const std::string& answer) {
  if (status != 400 && status != 422) {
    return std::nullopt;
  }
  const std::string words = words_of(answer);
  const json body = json::parse(sent, nullptr, false);
  // What is named first is meant: a list of what is known may follow.
  std::size_t first = std::string::npos;
  std::optional<LeftOut> next;
  for (const Parameter& parameter : parameters) {
    const std::size_t found = words.find(parameter.name);
    if (found < first && body.contains(parameter.name) && !(left_out.*parameter.left_out)) {
      first = found;
      next = left_out;
      (*next).*parameter.left_out = true;
    }
  }
  return says_unsupported(words) ? next : std::nullopt;
}

}  // namespace kernelpro
