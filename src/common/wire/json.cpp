#include "common/wire/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelpro {

namespace {

using nlohmann::json;

// Deeper than any value we write, shallow enough for the recursion of copies and dumps.
constexpr std::size_t deepest = 64;

// At most about 60 bytes, the last, and no part of a character in UTF-8.
std::string end_of(std::string_view text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) {
    return std::string(text);
  }
  text.remove_prefix(text.size() - longest);
  // Bytes 10xxxxxx go on with a character.
  while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0U) == 0x80U) {
    text.remove_prefix(1);
  }
  return "…" + std::string(text);
}

// nlohmann's messages start "[json.exception.parse_error.101] parse error at line 1, column 2: ".
// What follows says what was wrong; the place we say ourselves. The token can be the whole text.
std::string reason_of(std::string text, const std::string& token) {
  if (const std::size_t at = text.find(token); at != std::string::npos) {
    text.replace(at, token.size(), end_of(token));
  }
  for (const auto& [start, end] : {std::pair("[", "] "), std::pair("parse error", ": ")}) {
    if (const std::size_t at = text.find(end); text.starts_with(start) && at < text.size()) {
      text.erase(0, at + 2);
    }
  }
  return text;
}

// "line 3, column 7" of the byte `position` counts, the first being 1.
std::string line_and_column(std::string_view text, std::size_t position) {
  const std::string_view before =
      text.substr(0, std::min(text.size(), std::max<std::size_t>(position, 1) - 1));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column =
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// Builds the value from the parser's events, and refuses what the plain parser lets pass: a key
// twice in one object, and nesting without end.
class Builder : public json::json_sax_t {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  [[nodiscard]] json& root() { return root_; }
  [[nodiscard]] const Error& error() const { return error_; }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*literal*/) override {
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return fail("binary data is not JSON", ""); }
  bool start_object(std::size_t /*count*/) override { return open(json::object()); }
  bool start_array(std::size_t /*count*/) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name)) {
      return fail("the key \"" + end_of(name) + "\" stands twice in one object, expected once",
                  "JSON");
    }
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const json::exception& exception) override {
    return fail("not valid JSON: " + reason_of(exception.what(), token),
                line_and_column(text_, position));
  }

 private:
  json* place(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }

  bool add(json value) { return place(std::move(value)) != nullptr; }

  bool open(json value) {
    if (open_.size() == deepest) {
      return fail("nested more than " + std::to_string(deepest) + " deep, expected less", "JSON");
    }
    open_.push_back(place(std::move(value)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool fail(std::string message, std::string context) {
    error_ = make_error(ErrorKind::bad_input, std::move(message), std::move(context));
    return false;
  }

  std::string_view text_;
  json root_;
  std::vector<json*> open_;  // the containers not yet closed; a parent does not move meanwhile
  std::string key_;
  Error error_;
};

}  // namespace

Result<json> parse_json(const std::string& text) {
  Builder builder(text);
  if (!json::sax_parse(text, &builder)) {
    return builder.error();
  }
  return std::move(builder.root());
}

}  // namespace kernelpro
