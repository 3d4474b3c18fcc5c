#include "coordinator/task/toml_value.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace kernelpro {
namespace {

// More than any task needs. toml++ descends by a call for each part of a key, and so do we; values
// within values it bounds itself, so that these are the deepest there are.
constexpr int most_key_parts = 16;

// Behind the string that begins at `at`.
std::size_t behind_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool block = text.substr(at).starts_with(std::string(3, quote));
  const std::string_view end = text.substr(at, block ? 3 : 1);
  for (at += end.size(); at < text.size() && !text.substr(at).starts_with(end);) {
    if (!block && text[at] == '\n') {
      return at;  // not closed: the parser says so
    }
    at += quote == '"' && text[at] == '\\' ? 2 : 1;
  }
  at += end.size();
  while (block && at < text.size() && text[at] == quote) {
    ++at;  // a block may end in quotes of its own
  }
  return std::min(at, text.size());
}

// The line of the first key that has more parts; 0: none has. Whatever stands between other signs
// is taken for a key.
int line_of_deep_key(std::string_view text) {
  int parts = 1;
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char sign = text[at];
    if (sign == '"' || sign == '\'') {
      const std::size_t end = behind_string(text, at);
      line += static_cast<int>(std::ranges::count(text.substr(at, end - at), '\n'));
      at = end;
      continue;
    }
    if (sign == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    line += sign == '\n' ? 1 : 0;
    parts = std::string_view("\n=,[]{}").find(sign) != std::string_view::npos ? 1 : parts;
    parts += sign == '.' ? 1 : 0;
    if (parts > most_key_parts) {
      return line;
    }
    ++at;
  }
  return 0;
}

TomlValue convert(const toml::node& node);

void convert_members(const toml::table& table, TomlValue& value) {
  // toml++ sorts members by name; the order of axes is the file's.
  std::vector<std::pair<toml::source_position, TomlValue>> members;
  for (const auto& [key, node] : table) {
    TomlValue member = convert(node);
    member.key = std::string(key.str());
    member.line = static_cast<int>(key.source().begin.line);
    members.emplace_back(key.source().begin, std::move(member));
  }
  std::ranges::sort(members, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [position, member] : members) {
    value.items.push_back(std::move(member));
  }
}

TomlValue convert(const toml::node& node) {
  TomlValue value;
  value.line = static_cast<int>(node.source().begin.line);
  if (const auto* table = node.as_table()) {
    convert_members(*table, value);
  } else if (const auto* array = node.as_array()) {
    value.kind = TomlValue::Kind::array;
    for (const toml::node& item : *array) {
      value.items.push_back(convert(item));
    }
  } else if (const auto* text = node.as_string()) {
    value.kind = TomlValue::Kind::string;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = TomlValue::Kind::integer;
    value.integer = integer->get();
    value.number = static_cast<double>(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    value.kind = TomlValue::Kind::floating;
    value.number = number->get();
  } else if (const auto* truth = node.as_boolean()) {
    value.kind = TomlValue::Kind::boolean;
    value.truth = truth->get();
  } else {
    value.kind = TomlValue::Kind::date;
  }
  return value;
}

}  // namespace

const TomlValue* TomlValue::find(const std::string& name) const {
  if (kind != Kind::table) {
    return nullptr;
  }
  const auto found =
      std::ranges::find_if(items, [&](const TomlValue& member) { return member.key == name; });
  return found == items.end() ? nullptr : &*found;
}

std::string TomlValue::describe() const {
  switch (kind) {
    case Kind::string:
      return fmt::format("the string \"{}\"", text);
    case Kind::integer:
      return fmt::format("the integer {}", integer);
    case Kind::floating:
      return fmt::format("the number {}", number);
    case Kind::boolean:
      return truth ? "the boolean true" : "the boolean false";
    case Kind::date:
      return "a date or a time";
    case Kind::array:
      return "an array";
    case Kind::table:
      return "a table";
  }
  return "a value";
}

Result<TomlValue> parse_toml(const std::string& content, const std::string& file) {
  if (const int line = line_of_deep_key(content); line > 0) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("a key has more than {} parts", most_key_parts),
                      fmt::format("{}:{}", file, line));
  }
  try {
    return convert(toml::parse(content, file));
  } catch (const toml::parse_error& error) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("this is not valid TOML: {}", error.description()),
                      fmt::format("{}:{}", file, error.source().begin.line));
  }
}

}  // namespace kernelpro
