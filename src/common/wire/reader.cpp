#include "common/wire/reader.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/secret.hpp"

namespace kernelpro::wire {

namespace {

using nlohmann::json;

std::string pointer_step(const std::string& key) {
  const bool plain = key.find_first_of("~/") == std::string::npos;
  return plain ? "/" + key : (json::json_pointer() / key).to_string();
}

std::string shown(const json& value) {
  constexpr std::size_t longest = 60;
  switch (value.type()) {
    case json::value_t::null:
      return "null";
    case json::value_t::object:
      return "an object";
    case json::value_t::array:
      return "an array of " + std::to_string(value.size());
    case json::value_t::string: {
      const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
      return "the string " + (text.size() > longest ? text.substr(0, longest) + "…" : text);
    }
    case json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    default:
      return "the number " + value.dump();
  }
}

bool fits_integer(const json& value) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>() <=
           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  }
  return value.is_number_integer();
}

}  // namespace

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

void Place::complain(std::string message) const {
  if (!gone()) {
    *failure_ = make_error(ErrorKind::bad_input, std::move(message),
                           pointer_.empty() ? "the whole value" : pointer_);
  }
}

void Place::complain_expected(const std::string& expected) const {
  if (!gone()) {
    complain("found " + shown(*value_) + ", expected " + expected);
  }
}

bool Place::holds(bool fits, const char* expected) const {
  if (!fits) {
    complain_expected(expected);
  }
  return fits;
}

std::string Place::text() const {
  return holds(!gone() && value_->is_string(), "a string") ? value_->get<std::string>() : "";
}

bool Place::truth() const {
  return holds(!gone() && value_->is_boolean(), "true or false") && value_->get<bool>();
}

double Place::number() const {
  if (!gone() && value_->is_null()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  constexpr const char* expected = "a number, or null for one that is not finite";
  return holds(!gone() && value_->is_number(), expected) ? value_->get<double>() : 0;
}

double Place::finite() const {
  return holds(!gone() && value_->is_number(), "a number") ? value_->get<double>() : 0;
}

std::int64_t Place::integer() const {
  return holds(!gone() && fits_integer(*value_), "a whole number of at most 63 bits")
             ? value_->get<std::int64_t>()
             : 0;
}

int Place::small_integer() const {
  const std::int64_t value = integer();
  return holds(std::in_range<int>(value), "a whole number of at most 31 bits")
             ? static_cast<int>(value)
             : 0;
}

std::string Place::text_or_nothing() const {
  return gone() || !value_->is_string() ? std::string() : value_->get<std::string>();
}

std::uint64_t Place::hexadecimal() const {
  const std::string found = text_or_nothing();
  const bool fits = found.size() == 18 && found.starts_with("0x") &&
                    found.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
  return holds(fits, "\"0x\" and 16 hexadecimal digits in lower case")
             ? std::stoull(found, nullptr, 16)
             : 0;
}

Key Place::key() const {
  const std::optional<Key> parsed = parse_key(text_or_nothing());
  return holds(parsed.has_value(), "64 hexadecimal digits in lower case") ? *parsed : Key();
}

std::vector<std::int64_t> Place::integers() const {
  if (!holds(!gone() && value_->is_array(), "an array")) {
    return {};
  }
  std::vector<std::int64_t> integers;
  integers.reserve(value_->size());
  for (const json& item : *value_) {
    if (!fits_integer(item)) {
      const std::string step = "/" + std::to_string(integers.size());
      (void)Place(&item, pointer_ + step, *failure_).integer();
      return {};
    }
    integers.push_back(item.get<std::int64_t>());
  }
  return integers;
}

const json* Place::raw() const {
  return gone() ? nullptr : value_;
}

std::vector<Place> Place::items() const {
  if (!holds(!gone() && value_->is_array(), "an array")) {
    return {};
  }
  std::vector<Place> items;
  items.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    items.emplace_back(&(*value_)[i], pointer_ + "/" + std::to_string(i), *failure_);
  }
  return items;
}

std::vector<std::pair<std::string, Place>> Place::members() const {
  if (!holds(!gone() && value_->is_object(), "an object")) {
    return {};
  }
  std::vector<std::pair<std::string, Place>> members;
  for (const auto& [key, member] : value_->items()) {
    members.emplace_back(key, Place(&member, pointer_ + pointer_step(key), *failure_));
  }
  return members;
}

void Place::expect_object() const {
  (void)holds(gone() || value_->is_object(), "an object");
}

bool Place::has(const std::string& key) const {
  return !gone() && value_->contains(key);
}

Place Place::at(const std::string& key) const {
  const json* member = has(key) ? &*value_->find(key) : nullptr;
  if (member == nullptr) {
    complain("the key \"" + key + "\" is missing");
  }
  return {member, pointer_ + pointer_step(key), *failure_};
}

}  // namespace kernelpro::wire
