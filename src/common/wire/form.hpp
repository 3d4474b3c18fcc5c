// One description of a struct's fields, for reading and writing. For sources, and for values.hpp.
//
//   void describe(Form& form, Ceiling& ceiling) {
//     KP_FIELDS(form, ceiling, name, unit, median);  // called as the members
//     form("class", ceiling.kind);                   // another key
//     form.maybe("threads", ceiling.threads);        // need not be there
//   }
//
// A description changes nothing but while it reads. It is declared in the namespace of its struct,
// before its first use.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "common/base/secret.hpp"
#include "common/model/formula.hpp"
#include "common/model/interval.hpp"
#include "common/model/task.hpp"
#include "common/model/trace.hpp"
#include "common/wire/reader.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro::wire {

// Names of enumerators, for reading and for messages, come from name_of and from
// KP_LAST(Outcome, not_judged).
template <typename Enum>
inline constexpr auto last_of = std::nullopt;
#define KP_LAST(Enum, last) \
  template <>               \
  inline constexpr auto wire::last_of<Enum> = Enum::last

using JsonObject = std::shared_ptr<const nlohmann::json>;

// An object that is read or written.
class Form {
 public:
  explicit Form(Place object);
  explicit Form(nlohmann::json& object);  // becomes an object without keys

  [[nodiscard]] bool reading() const { return object_ == nullptr; }

  // A key that must be there.
  template <typename T>
  void operator()(const std::string& key, T& value) {
    if (reading()) {
      read(place(key), value);
    } else {
      write(slot(key), value);
    }
  }

  // A key that need not be there: `value` stays as it is then. What is not `wanted` is not written.
  template <typename T>
  void maybe(const std::string& key, T& value, bool wanted = true) {
    if (reading() ? has(key) : wanted) {
      (*this)(key, value);
    }
  }
  template <typename T>
  void maybe(const std::string& key, std::optional<T>& value) {
    maybe(key, value, value.has_value());
  }
  void maybe(const std::string& key, std::optional<double>& value);  // finite
  template <typename T>
  void nonempty(const std::string& key, T& value) {
    maybe(key, value, !value.empty());
  }

  void finite(const std::string& key, double& value);       // null is an error
  void count(const std::string& key, std::int64_t& value);  // not negative
  void derived(const std::string& key, double value);       // read, but not used
  // The key "v"; call it first, since another version may mean something else by any other key.
  void version(std::int64_t expected, const std::string& what, const std::string& remedy = "");
  void embedded(const std::string& key, std::string& object_text);  // an object as it is; "": none

  // Whether there is such a key to read. All keys are there to be written.
  [[nodiscard]] bool has(const std::string& key);

  // A key that may be there and is not read here.
  void may_hold(const std::string& key) { (void)has(key); }

  // Of the last key: complains while it reads. `last` does not exist where nothing was read.
  void expect(bool fits, const std::string& expected) const;
  [[nodiscard]] const Place& last() const { return last_; }
  [[nodiscard]] const Place& whole() const { return whole_; }

  // Where a key is read from and written to.
  [[nodiscard]] const Place& place(const std::string& key);
  [[nodiscard]] nlohmann::json& slot(const std::string& key);

  void pass_over_others() { others_ = true; }
  void end() const;  // after reading: a key nobody asked for is an error

  // Values: text, numbers, lists, maps, names of enumerators, structs with a description.
  static void read(const Place& place, std::string& value) { value = place.text(); }
  static void read(const Place& place, bool& value) { value = place.truth(); }
  static void read(const Place& place, double& value) { value = place.number(); }
  static void read(const Place& place, int& value) { value = place.small_integer(); }
  static void read(const Place& place, std::int64_t& value) { value = place.integer(); }
  static void read(const Place& place, std::uint64_t& value) { value = place.hexadecimal(); }
  static void read(const Place& place, Key& value) { value = place.key(); }
  static void read(const Place& place, std::vector<std::int64_t>& values) {
    values = place.integers();
  }
  static void read(const Place& place, Formula& value);
  static void read(const Place& place, Interval& value) {
    read_all(place, {&value.low, &value.high}, "the two numbers [low, high]");
  }
  static void read(const Place& place, AxisRange& value) {
    if (place.items().size() == 3) {
      read_all(place, {&value.low, &value.high, &value.step}, "[low, high, step]");
    } else {
      read_all(place, {&value.low, &value.high}, "the two whole numbers [low, high]");
    }
  }
  static void read(const Place& place, Extent& value) {
    auto& [x, y, z] = value;
    read_all(place, {&x, &y, &z}, "the three numbers [x, y, z]");
  }
  static void read(const Place& place, JsonObject& object);

  template <typename T>
  static void read(const Place& place, std::vector<T>& values) {
    values.clear();
    for (const Place& item : place.items()) {
      T value{};
      read(item, value);
      values.push_back(std::move(value));
    }
  }
  template <typename Json, typename T>
  static void write(Json& slot, const std::vector<T>& values) {
    slot = Json::array();
    for (const T& value : values) {
      write(slot.emplace_back(), value);
    }
  }

  template <typename T>
  static void read(const Place& place, std::map<std::string, T>& values) {
    values.clear();
    for (const auto& [name, member] : place.members()) {
      read(member, values[name]);
    }
  }
  template <typename Json, typename T>
  static void write(Json& slot, const std::map<std::string, T>& values) {
    Form form(slot);
    for (const auto& [name, value] : values) {
      write(form.slot(name), value);
    }
  }

  template <typename T>
  static void read(const Place& place, std::optional<T>& value) {
    read(place, value.emplace());
  }
  template <typename Json, typename T>
  static void write(Json& slot, const std::optional<T>& value) {
    write(slot, value.has_value() ? *value : T());
  }

  template <typename T>
  static void read(const Place& place, T& value) {
    if constexpr (std::is_enum_v<T>) {
      const std::string text = place.text();
      std::vector<std::string> names;
      for (int i = 0; i <= static_cast<int>(last_of<T>); ++i) {
        names.emplace_back(name_of(static_cast<T>(i)));
        if (names.back() == text) {
          value = static_cast<T>(i);
          return;
        }
      }
      place.complain_expected("one of " + joined(names));
    } else {
      Form form(place);
      describe(form, value);
      form.end();
    }
  }
  template <typename Json, typename T>
  static void write(Json& slot, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      slot = std::string(name_of(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      slot = valid_utf8(value);
    } else if constexpr (std::is_same_v<T, double>) {
      slot = std::isfinite(value) ? Json(value) : Json();
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      slot = hexadecimal(value);
    } else if constexpr (std::is_same_v<T, Key>) {
      slot = key_text(value);
    } else if constexpr (std::is_same_v<T, Formula>) {
      slot = value.text();
    } else if constexpr (std::is_same_v<T, Interval>) {
      write(slot, std::vector{value.low, value.high});
    } else if constexpr (std::is_same_v<T, AxisRange>) {
      write(slot, value.step == 1 ? std::vector{value.low, value.high}
                                  : std::vector{value.low, value.high, value.step});
    } else if constexpr (std::is_same_v<T, JsonObject>) {
      slot = *value;
    } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, Extent>) {
      slot = value;
    } else {
      Form form(slot);
      describe(form, const_cast<T&>(value));  // which only reads change
    }
  }

 private:
  // An array of as many as there are targets.
  template <typename T>
  static void read_all(const Place& place, std::initializer_list<T*> targets,
                       const char* expected) {
    std::vector<T> values;
    read(place, values);
    if (values.size() != targets.size()) {
      place.complain_expected(expected);
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      *targets.begin()[i] = values[i];
    }
  }

  nlohmann::json* object_ = nullptr;  // while it writes
  Place whole_;                       // while it reads, as all below
  std::set<std::string> known_;
  Place last_;
  bool others_ = false;
};

template <typename T, typename Json = nlohmann::json>
[[nodiscard]] Json written(const T& value) {
  Json json;
  Form::write(json, value);
  return json;
}

// A whole document, over what `value` is before.
template <typename T>
[[nodiscard]] Result<T> read_whole(const nlohmann::json& json, T value = T()) {
  std::optional<Error> failure;
  Form::read(Place(&json, "", failure), value);
  return failure ? Result<T>(*std::move(failure)) : Result<T>(std::move(value));
}

}  // namespace kernelpro::wire

namespace kernelpro {

using wire::Form;
using wire::Place;

}  // namespace kernelpro

// Fields whose keys are called as the members are: KP_FIELDS(form, gpu, name, uuid) is
// form("name", gpu.name), form("uuid", gpu.uuid), and so with form.maybe or any function.
#define KP_FIELDS(form, object, ...) KP_EACH(KP_FIELD, form, object, __VA_ARGS__)
#define KP_FIELD(form, object, member) form(#member, (object).member)

// The whole description of a struct of such fields.
#define KP_DESCRIBE(Type, ...)             \
  void describe(Form& form, Type& value) { \
    KP_FIELDS(form, value, __VA_ARGS__);   \
  }

// macro(a, b, x), macro(a, b, y), … for each of up to 64.
#define KP_EACH(macro, a, b, ...) KP_AGAIN(KP_STEP(macro, a, b, __VA_ARGS__))
#define KP_STEP(macro, a, b, x, ...) \
  macro(a, b, x) __VA_OPT__(, KP_NEXT KP_PARENTHESES(macro, a, b, __VA_ARGS__))
#define KP_NEXT() KP_STEP
#define KP_PARENTHESES ()
#define KP_AGAIN(...) KP_AGAIN_3(KP_AGAIN_3(KP_AGAIN_3(KP_AGAIN_3(__VA_ARGS__))))
#define KP_AGAIN_3(...) KP_AGAIN_2(KP_AGAIN_2(KP_AGAIN_2(KP_AGAIN_2(__VA_ARGS__))))
#define KP_AGAIN_2(...) KP_AGAIN_1(KP_AGAIN_1(KP_AGAIN_1(KP_AGAIN_1(__VA_ARGS__))))
#define KP_AGAIN_1(...) __VA_ARGS__

// The two functions that others call for a struct.
#define KP_JSON_OF(Type, type_from_json)                    \
  nlohmann::json to_json(const Type& value) {               \
    return wire::written(value);                            \
  }                                                         \
  Result<Type> type_from_json(const nlohmann::json& json) { \
    return wire::read_whole<Type>(json);                    \
  }
