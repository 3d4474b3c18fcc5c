#include "coordinator/mcp/rpc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/writer.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

// Of an answer, what is around a result: id, version, who we are.
constexpr std::size_t envelope = 600;
constexpr std::size_t shortest_cut = 200;
constexpr std::size_t longest_id = 1000;
// Bytes that shortening one answer may cost: what cannot be shortened by then is too long.
constexpr std::size_t most_looked_at = 40'000'000;

// The part that takes most: a text, or a list of more than one entry.
struct Largest {
  json* part = nullptr;
  std::size_t size = 0;

  void look_at(json& value) {
    if (value.is_string() && value.get_ref<const std::string&>().size() > shortest_cut) {
      keep(value, value.get_ref<const std::string&>().size());
    }
    if (value.is_array() && value.size() > 1) {
      // A list as such gives way only to nothing else: its entries are worth more than their tails.
      keep(value, value.size());
    }
    if (value.is_structured()) {
      for (json& inner : value) {
        look_at(inner);
      }
    }
  }

 private:
  void keep(json& value, std::size_t size_now) {
    if (size_now > size) {
      part = &value;
      size = size_now;
    }
  }
};

// What a client may have us repeat to tell its requests apart.
bool is_repeatable(const json& value) {
  return value.is_number_integer() ||
         (value.is_string() && value.get_ref<const std::string&>().size() <= longest_id);
}

json member(const json& object, const char* key) {
  return object.is_object() ? object.value(key, json()) : json();
}

std::string cut_text(const std::string& text) {
  const std::size_t kept = text.size() * 3 / 4;
  constexpr const char* mark = "\n… [cut: the answer would be too long]";
  const std::size_t old = text.rfind(mark);
  return wire::valid_utf8(text.substr(0, std::min(kept, old))) + mark;
}

}  // namespace

std::string line_of(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string bounded_line_of(json message) {
  std::string line = line_of(message);
  if (line.size() <= most_characters) {
    return line;
  }
  bound(message, most_characters);
  line = line_of(message);
  return line.size() <= most_characters ? line
                                        : line_of(error_message(id_of(message), internal_error,
                                                                "the answer is too long", json()));
}

json id_of(const json& message) {
  json id = member(message, "id");
  return is_repeatable(id) ? id : json();
}

json progress_token_of(const json& message) {
  json token = member(member(member(message, "params"), "_meta"), "progressToken");
  return is_repeatable(token) ? token : json();
}

json result_message(const json& id, json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

json error_message(const json& id, int code, const std::string& text, const json& data) {
  json error = {{"code", code}, {"message", text}};
  if (!data.is_null()) {
    error["data"] = data;
  }
  json message = {{"jsonrpc", "2.0"}, {"error", std::move(error)}};
  if (!id.is_null()) {
    message["id"] = id;
  }
  return message;
}

json notification(const std::string& method, json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string message_complaint(const json& message) {
  if (!message.is_object() || message.value("jsonrpc", json()) != "2.0") {
    return R"(expected one JSON-RPC 2.0 message, an object with "jsonrpc": "2.0")";
  }
  if (message.contains("id") && !is_repeatable(message["id"])) {
    return fmt::format("an id is a whole number, or a text of at most {} characters", longest_id);
  }
  if (!message.contains("method")) {
    return message.contains("result") || message.contains("error") ? "" : "there is no method";
  }
  if (!message["method"].is_string()) {
    return "a method is a text";
  }
  return message.contains("params") && !message["params"].is_object() ? "params is an object" : "";
}

void bound(json& value, std::size_t most) {
  std::size_t looked_at = 0;
  for (;;) {
    const std::size_t size = line_of(value).size();
    looked_at += size;
    if (size <= most || looked_at > most_looked_at) {
      return;
    }
    Largest largest;
    largest.look_at(value);
    if (largest.part == nullptr) {
      return;
    }
    json& part = *largest.part;
    if (part.is_string()) {
      part = cut_text(part.get<std::string>());
    } else {
      part.erase(part.end() - static_cast<std::ptrdiff_t>((part.size() + 3) / 4), part.end());
    }
  }
}

json tool_result(json structure) {
  const auto whole = [&structure] {
    return json{{"content", {{{"type", "text"}, {"text", line_of(structure)}}}},
                {"structuredContent", structure},
                {"isError", false}};
  };
  json result = whole();
  for (std::size_t most = most_characters / 2;
       line_of(result).size() > most_characters - envelope && most > shortest_cut;
       most -= most / 8) {
    bound(structure, most);
    result = whole();
  }
  return result;
}

json failed_tool_result(const std::string& why) {
  json result = {{"content", {{{"type", "text"}, {"text", why}}}}, {"isError", true}};
  bound(result, most_characters - envelope);
  return result;
}

}  // namespace kernelpro::mcp
