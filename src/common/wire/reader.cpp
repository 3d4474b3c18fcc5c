#include "common/wire/reader.hpp"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/secret.hpp"

namespace kernelpro::wire {

namespace {

using nlohmann::json;

// One step of a JSON pointer (RFC 6901): '~' and '/' in keys are escaped.
std::string pointer_step(const std::string& key) {
  std::string step = "/";
  for (const char c : key) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

std::string describe(const json& value) {
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

void Place::complain(std::string message) const {
  if (!gone()) {
    *failure_ = make_error(ErrorKind::bad_input, std::move(message),
                           pointer_.empty() ? "the whole value" : pointer_);
  }
}

void Place::complain_expected(const std::string& expected) const {
  if (!gone()) {
    complain("found " + describe(*value_) + ", expected " + expected);
  }
}

std::string Place::text() const {
  if (gone() || !value_->is_string()) {
    complain_expected("a string");
    return {};
  }
  return value_->get<std::string>();
}

bool Place::truth() const {
  if (gone() || !value_->is_boolean()) {
    complain_expected("true or false");
    return false;
  }
  return value_->get<bool>();
}

double Place::number() const {
  if (!gone() && value_->is_null()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (gone() || !value_->is_number()) {
    complain_expected("a number, or null for one that is not finite");
    return 0;
  }
  return value_->get<double>();
}

double Place::finite() const {
  if (!gone() && value_->is_null()) {
    complain_expected("a number");
    return 0;
  }
  return number();
}

std::int64_t Place::integer() const {
  if (gone() || !fits_integer(*value_)) {
    complain_expected("a whole number of at most 63 bits");
    return 0;
  }
  return value_->get<std::int64_t>();
}

int Place::small_integer() const {
  const std::int64_t value = integer();
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    complain_expected("a whole number of at most 31 bits");
    return 0;
  }
  return static_cast<int>(value);
}

std::uint64_t Place::hexadecimal() const {
  constexpr std::size_t prefix = 2;
  constexpr std::size_t digits = 16;
  const std::string found = gone() || !value_->is_string() ? "" : value_->get<std::string>();
  std::uint64_t value = 0;
  if (found.size() == prefix + digits && found.starts_with("0x") &&
      found.find_first_not_of("0123456789abcdef", prefix) == std::string::npos) {
    std::from_chars(found.data() + prefix, found.data() + found.size(), value, digits);
    return value;
  }
  complain_expected("\"0x\" and 16 hexadecimal digits in lower case");
  return 0;
}

Key Place::key() const {
  const std::string found = gone() || !value_->is_string() ? "" : value_->get<std::string>();
  const std::optional<Key> parsed = parse_key(found);
  if (!parsed) {
    complain_expected("64 hexadecimal digits in lower case");
  }
  return parsed.value_or(Key{});
}

Formula Place::formula() const {
  Result<Formula> parsed = Formula::parse(text());
  if (!parsed.ok()) {
    complain_expected("a formula (" + parsed.error().text() + ")");
    return {};
  }
  return *parsed;
}

Interval Place::interval() const {
  const std::vector<double> ends = numbers();
  if (ends.size() != 2) {
    complain_expected("the two numbers [low, high]");
    return {};
  }
  return {.low = ends[0], .high = ends[1]};
}

Axes Place::axes() const {
  return map([](const Place& extent) { return extent.integer(); });
}

std::vector<std::string> Place::texts() const {
  return list([](const Place& item) { return item.text(); });
}

std::vector<double> Place::numbers() const {
  return list([](const Place& item) { return item.number(); });
}

std::vector<std::int64_t> Place::integers() const {
  if (gone() || !value_->is_array()) {
    complain_expected("an array");
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

std::vector<Place> Place::items() const {
  if (gone() || !value_->is_array()) {
    complain_expected("an array");
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
  if (gone() || !value_->is_object()) {
    complain_expected("an object");
    return {};
  }
  std::vector<std::pair<std::string, Place>> members;
  for (const auto& [key, member] : value_->items()) {
    members.emplace_back(key, Place(&member, pointer_ + pointer_step(key), *failure_));
  }
  return members;
}

Fields::Fields(Place object) : object_(std::move(object)) {
  if (!object_.gone() && !object_.value_->is_object()) {
    object_.complain_expected("an object");
  }
}

Place Fields::at(const std::string& key) {
  if (const auto found = maybe(key)) {
    return *found;
  }
  object_.complain("the key \"" + key + "\" is missing");
  return {nullptr, object_.pointer_ + pointer_step(key), *object_.failure_};
}

std::optional<Place> Fields::maybe(const std::string& key) {
  known_.insert(key);
  if (object_.gone()) {
    return std::nullopt;
  }
  const auto found = object_.value_->find(key);
  if (found == object_.value_->end()) {
    return std::nullopt;
  }
  return Place(&*found, object_.pointer_ + pointer_step(key), *object_.failure_);
}

void Fields::end() const {
  if (object_.gone()) {
    return;
  }
  for (const auto& [key, member] : object_.members()) {
    if (known_.contains(key)) {
      continue;
    }
    std::string list;
    for (const std::string& name : known_) {
      list += (list.empty() ? "" : ", ") + name;
    }
    member.complain("unknown key, expected one of " + list);
  }
}

std::string maybe_text(Fields& fields, const std::string& key) {
  const std::optional<Place> place = fields.maybe(key);
  return place ? place->text() : std::string();
}

void expect_version(Fields& fields, std::int64_t expected, std::string_view what) {
  const Place place = fields.at("v");
  const std::int64_t version = place.integer();
  if (version != expected) {
    place.complain(std::string(what) + " of version " + std::to_string(version) + ", expected " +
                   std::to_string(expected));
  }
}

}  // namespace kernelpro::wire
