#include "common/wire/form.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace kernelpro::wire {

using nlohmann::json;

Form::Form(Place object) : whole_(std::move(object)) {
  whole_.expect_object();
}

Form::Form(json& object) : object_(&object) {
  object = json::object();
}

void Form::maybe(const std::string& key, std::optional<double>& value) {
  if (reading() ? has(key) : value.has_value() && std::isfinite(*value)) {
    finite(key, reading() ? value.emplace() : *value);
  }
}

void Form::finite(const std::string& key, double& value) {
  if (reading()) {
    value = place(key).finite();
  } else {
    write(slot(key), value);
  }
}

void Form::count(const std::string& key, std::int64_t& value) {
  (*this)(key, value);
  expect(value >= 0, "no negative number");
}

void Form::derived(const std::string& key, double value) {
  (*this)(key, value);
}

void Form::version(std::int64_t expected, const std::string& what, const std::string& remedy) {
  std::int64_t found = expected;
  (*this)("v", found);
  if (found != expected) {
    last_.complain(what + " of version " + std::to_string(found) + ", expected " +
                   std::to_string(expected) + remedy);
  }
}

void Form::embedded(const std::string& key, std::string& object_text) {
  if (!reading()) {
    if (!object_text.empty()) {
      slot(key) = json::parse(object_text, nullptr, false);
    }
  } else if (has(key)) {
    const json* value = place(key).raw();
    object_text = value != nullptr && value->is_object() ? value->dump() : "";
  }
}

bool Form::has(const std::string& key) {
  last_ = Place();
  known_.insert(key);
  return !reading() || whole_.has(key);
}

void Form::expect(bool fits, const std::string& expected) const {
  if (!fits) {
    last_.complain_expected(expected);
  }
}

const Place& Form::place(const std::string& key) {
  known_.insert(key);
  last_ = whole_.at(key);
  return last_;
}

json& Form::slot(const std::string& key) {
  return (*object_)[valid_utf8(key)];
}

void Form::end() const {
  if (others_) {
    return;
  }
  for (const auto& [key, member] : whole_.members()) {
    if (!known_.contains(key)) {
      member.complain("unknown key, expected one of " + joined({known_.begin(), known_.end()}));
    }
  }
}

void Form::read(const Place& place, Formula& value) {
  Result<Formula> parsed = Formula::parse(place.text());
  if (!parsed.ok()) {
    place.complain_expected("a formula (" + parsed.error().text() + ")");
    return;
  }
  value = *std::move(parsed);
}

void Form::read(const Place& place, JsonObject& object) {
  (void)place.members();
  const json* value = place.raw();
  object = std::make_shared<const json>(value == nullptr ? json() : *value);
}

}  // namespace kernelpro::wire
