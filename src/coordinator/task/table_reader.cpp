#include "coordinator/task/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "coordinator/task/nearest.hpp"

namespace kernelpro {

void FirstError::add(int line, const std::string& key, const std::string& message) {
  if (!status_.ok()) {
    return;
  }
  std::string context = line > 0 ? fmt::format("{}:{}", file_, line) : file_;
  if (!key.empty()) {
    context += ": " + key;
  }
  status_ = make_error(ErrorKind::bad_input, message, std::move(context));
}

TableReader::TableReader(const TomlValue& table, std::string key, FirstError& errors,
                         const std::vector<std::string>& known)
    : table_(&table), key_(std::move(key)), errors_(&errors) {
  if (table.kind != TomlValue::Kind::table) {
    errors.add(table.line, key_, fmt::format("expected a table, found {}", table.describe()));
    return;
  }
  for (const TomlValue& member : table.items) {
    if (std::ranges::find(known, member.key) == known.end()) {
      fail_at(member, member.key, "unknown key" + suggest(member.key, known));
    }
  }
}

std::string TableReader::full(const std::string& name) const {
  return key_.empty() ? name : key_ + "." + name;
}

void TableReader::fail(const std::string& name, const std::string& message) const {
  const TomlValue* value = find(name);
  fail_at(value != nullptr ? *value : *table_, name, message);
}

void TableReader::fail_at(const TomlValue& value, const std::string& name,
                          const std::string& message) const {
  errors_->add(value.line, full(name), message);
}

const TomlValue* TableReader::find(const std::string& name) const {
  return table_->find(name);
}

const TomlValue* TableReader::require(const std::string& name) const {
  const TomlValue* value = find(name);
  if (value == nullptr) {
    fail(name, "this key is required and missing");
  }
  return value;
}

std::string TableReader::string(const std::string& name,
                                const std::optional<std::string>& fallback) const {
  const TomlValue* value = fallback ? find(name) : require(name);
  if (value == nullptr) {
    return fallback.value_or("");
  }
  if (value->kind != TomlValue::Kind::string) {
    fail(name, fmt::format("expected a string, found {}", value->describe()));
  } else if (value->text.empty() && !fallback) {
    fail(name, "this string must not be empty");
  }
  return value->text;
}

double TableReader::number(const std::string& name, std::optional<double> fallback) const {
  const TomlValue* value = fallback ? find(name) : require(name);
  if (value == nullptr) {
    return fallback.value_or(0);
  }
  return number_in(*value, name).value_or(0);
}

bool TableReader::boolean(const std::string& name, bool fallback) const {
  const TomlValue* value = find(name);
  if (value == nullptr) {
    return fallback;
  }
  if (value->kind != TomlValue::Kind::boolean) {
    fail(name, fmt::format("expected true or false, found {}", value->describe()));
  }
  return value->truth;
}

Formula TableReader::formula(const std::string& name,
                             const std::optional<std::string>& fallback) const {
  const TomlValue* value = fallback ? find(name) : require(name);
  if (value != nullptr) {
    return formula_in(*value, name);
  }
  TomlValue given;
  given.kind = TomlValue::Kind::string;
  given.text = fallback.value_or("0");
  return formula_in(given, name);
}

std::vector<std::string> TableReader::strings(const std::string& name) const {
  std::vector<std::string> list;
  const TomlValue* value = find(name);
  if (value == nullptr) {
    return list;
  }
  if (value->kind != TomlValue::Kind::array) {
    fail(name, fmt::format("expected an array of strings, found {}", value->describe()));
    return list;
  }
  for (const TomlValue& item : value->items) {
    if (item.kind != TomlValue::Kind::string) {
      fail_at(item, name, fmt::format("expected strings only, found {}", item.describe()));
    }
    list.push_back(item.text);
  }
  return list;
}

std::vector<Formula> TableReader::formulas(const std::string& name) const {
  std::vector<Formula> list;
  const TomlValue* value = require(name);
  if (value == nullptr) {
    return list;
  }
  if (value->kind != TomlValue::Kind::array) {
    fail(name, fmt::format(R"(expected an array of formulas like ["m", "k"], found {})",
                           value->describe()));
    return list;
  }
  for (const TomlValue& item : value->items) {
    list.push_back(formula_in(item, name));
  }
  return list;
}

std::optional<std::int64_t> TableReader::integer_in(const TomlValue& value,
                                                    const std::string& name) const {
  if (value.kind != TomlValue::Kind::integer) {
    fail_at(value, name, fmt::format("expected a whole number, found {}", value.describe()));
    return {};
  }
  return value.integer;
}

std::optional<double> TableReader::number_in(const TomlValue& value,
                                             const std::string& name) const {
  const bool numeric =
      value.kind == TomlValue::Kind::integer || value.kind == TomlValue::Kind::floating;
  if (!numeric || !std::isfinite(value.number)) {
    fail_at(value, name, fmt::format("expected a finite number, found {}", value.describe()));
    return {};
  }
  return value.number;
}

Formula TableReader::formula_in(const TomlValue& value, const std::string& name) const {
  std::string text = value.text;
  if (value.kind == TomlValue::Kind::integer) {
    text = std::to_string(value.integer);
  } else if (value.kind != TomlValue::Kind::string) {
    fail_at(value, name,
            fmt::format("expected a formula like \"2*n\" or a whole number, found {}",
                        value.describe()));
    return {};
  }
  auto formula = Formula::parse(text);
  if (!formula.ok()) {
    fail_at(value, name, formula.error().text());
    return {};
  }
  return *formula;
}

}  // namespace kernelpro
