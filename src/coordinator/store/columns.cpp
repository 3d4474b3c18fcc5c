#include "coordinator/store/columns.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace kernelpro::store {

namespace {

using nlohmann::json;

constexpr const char* mark = "[]";

bool same_keys(const json& one, const json& other) {
  return one.size() == other.size() &&
         std::all_of(one.items().begin(), one.items().end(),
                     [&](const auto& member) { return other.contains(member.key()); });
}

bool is_table(const json& value) {
  return value.is_array() && value.size() > 1 && value[0].is_object() && !value[0].empty() &&
         std::all_of(value.begin(), value.end(), [&](const json& record) {
           return record.is_object() && same_keys(value[0], record);
         });
}

// Lists of one length, by key.
bool is_turned_table(const json& value) {
  if (!value.is_object() || value.size() != 1 || !value.contains(mark)) {
    return false;
  }
  const json& columns = value[mark];
  return columns.is_object() && !columns.empty() &&
         std::all_of(columns.begin(), columns.end(), [&](const json& column) {
           return column.is_array() && column.size() == columns.begin()->size();
         });
}

json each(const json& value, json (*change)(const json&)) {
  json changed = value;
  if (value.is_structured()) {
    for (json& part : changed) {
      part = change(part);
    }
  }
  return changed;
}

}  // namespace

json to_columns(const json& value) {
  if (!is_table(value)) {
    return each(value, to_columns);
  }
  json columns = json::object();
  for (const auto& [key, first] : value[0].items()) {
    json column = json::array();
    for (const json& record : value) {
      column.push_back(record[key]);
    }
    columns[key] = to_columns(column);
  }
  return {{mark, std::move(columns)}};
}

json from_columns(const json& value) {
  json inner = each(value, from_columns);
  if (!is_turned_table(inner)) {
    return inner;
  }
  json records = json::array();
  for (const auto& [key, column] : inner[mark].items()) {
    for (std::size_t i = 0; i < column.size(); ++i) {
      records[i][key] = column[i];
    }
  }
  return records;
}

}  // namespace kernelpro::store
