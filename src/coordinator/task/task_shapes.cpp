// The parts of a task.toml that say where and how it runs: sizes, reference, implementations.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/model/header_library.hpp"
#include "coordinator/task/nearest.hpp"
#include "coordinator/task/task_reader.hpp"

namespace kernelpro {

namespace {

Backend read_backend(const TableReader& reader) {
  const std::string name = reader.string("backend");
  const std::optional<Backend> backend = parse_backend(name);
  if (!backend) {
    reader.fail("backend",
                fmt::format("\"{}\" is not a backend{}", name, suggest(name, backend_names())));
  }
  return backend.value_or(Backend::cpu);
}

}  // namespace

std::vector<std::string> TaskReader::given_axes() const {
  std::vector<std::string> names;
  for (const AxisSpec& axis : task_.axes) {
    if (!axis.derived) {
      names.push_back(axis.name);
    }
  }
  return names;
}

void TaskReader::check_axes(const TableReader& reader, const TomlValue& table,
                            const std::string& name) {
  const std::vector<std::string> given = given_axes();
  for (const TomlValue& member : table.items) {
    const auto axis = std::ranges::find_if(
        task_.axes, [&](const AxisSpec& spec) { return spec.name == member.key; });
    if (axis == task_.axes.end()) {
      reader.fail_at(
          member, name,
          fmt::format("\"{}\" is not an axis{}", member.key, suggest(member.key, given)));
    } else if (axis->derived) {
      reader.fail_at(member, name,
                     fmt::format("\"{}\" is derived ({}); give only {}", member.key,
                                 axis->derived->text(), fmt::join(given, ", ")));
    }
  }
  for (const std::string& axis : given) {
    if (table.find(axis) == nullptr) {
      reader.fail_at(
          table, name,
          fmt::format("the axis \"{}\" is missing; give all of {}", axis, fmt::join(given, ", ")));
    }
  }
}

void TaskReader::read_shapes(const TableReader& root) {
  if (const TomlValue* table = root.require("shapes")) {
    std::vector<std::string> known = backend_names();
    std::erase(known, name_of(Backend::cpu));  // which has the timed ones
    known.insert(known.end(), {"timed", "held_out"});
    const TableReader reader(*table, "shapes", *errors_, known);
    if (reader.require("timed") != nullptr) {
      task_.timed_shapes = read_shape_list(reader, "timed");
    }
    for (const Backend backend : backends) {
      if (reader.find(name_of(backend)) != nullptr) {
        task_.shapes_on[backend] = read_shape_list(reader, name_of(backend));
      }
    }
    read_held_out(reader);
  }
}

std::vector<Axes> TaskReader::read_shape_list(const TableReader& shapes, const std::string& name) {
  std::vector<Axes> read;
  const TomlValue* list = shapes.find(name);
  if (list->kind != TomlValue::Kind::array || list->items.empty()) {
    shapes.fail(name, "expected at least one shape, like [ { n = 1024 } ]");
    return read;
  }
  for (const TomlValue& table : list->items) {
    if (table.kind != TomlValue::Kind::table) {
      shapes.fail_at(
          table, name,
          fmt::format("expected a shape like {{ n = 1024 }}, found {}", table.describe()));
      return read;
    }
    check_axes(shapes, table, name);
    Axes shape;
    for (const TomlValue& member : table.items) {
      const auto size = shapes.integer_in(member, name + "." + member.key);
      if (size && *size < 1) {
        shapes.fail_at(member, name + "." + member.key,
                       fmt::format("expected a size of at least 1, found {}", *size));
      }
      shape[member.key] = size.value_or(1);
    }
    read.push_back(std::move(shape));
  }
  return read;
}

void TaskReader::read_held_out(const TableReader& shapes) {
  const TomlValue* table = shapes.require("held_out");
  if (table == nullptr) {
    return;
  }
  if (table->kind != TomlValue::Kind::table) {
    shapes.fail("held_out", fmt::format("expected a range for each given axis, like "
                                        "{{ n = [1, 100] }}, found {}",
                                        table->describe()));
    return;
  }
  check_axes(shapes, *table, "held_out");
  for (const TomlValue& member : table->items) {
    const std::string key = "held_out." + member.key;
    const std::size_t count = member.kind == TomlValue::Kind::array ? member.items.size() : 0;
    if (count != 2 && count != 3) {
      shapes.fail_at(member, key,
                     fmt::format("expected two whole numbers, [low, high], or with a step of the "
                                 "sizes, [low, high, step], found {}",
                                 member.describe()));
      continue;
    }
    const auto number = [&](std::size_t i) {
      return shapes.integer_in(member.items[i], key).value_or(1);
    };
    const AxisRange range{number(0), number(1), count == 3 ? number(2) : 1};
    if (range.low < 1) {
      shapes.fail_at(member, key, fmt::format("low must be at least 1, found {}", range.low));
    } else if (range.low > range.high) {
      shapes.fail_at(member, key,
                     fmt::format("low ({}) is above high ({})", range.low, range.high));
    } else if (range.step < 1) {
      shapes.fail_at(member, key, fmt::format("step must be at least 1, found {}", range.step));
    }
    task_.held_out[member.key] = range;
  }
}

void TaskReader::read_reference(const TableReader& root) {
  const TomlValue* table = root.require("reference");
  if (table == nullptr) {
    return;
  }
  const TableReader reader(
      *table, "reference", *errors_,
      {"file", "call", "torch", "baseline", "products", "runs", "without_effect"});
  if (reader.find("baseline") != nullptr) {
    task_.reference.baseline = reader.boolean("baseline", false);
    if (!task_.reference.baseline || reader.find("file") != nullptr ||
        reader.find("torch") != nullptr) {
      reader.fail("baseline",
                  "expected nothing but baseline = true (what the baseline computes is right), or "
                  "file and call");
    }
    return;
  }
  if (reader.find("torch") != nullptr) {
    task_.reference.torch = true;
    task_.reference.file = reader.string("torch");
    if (reader.find("products") != nullptr) {
      task_.reference.products = reader.number("products");
    }
    task_.reference.runs = reader.strings("runs");
    task_.reference.without_effect = reader.strings("without_effect");
    return;
  }
  task_.reference.file = reader.string("file");
  const std::string text = reader.string("call");
  if (auto call = parse_call(text); call.ok()) {
    task_.reference.call = *call;
  } else {
    reader.fail("call", call.error().text());
  }
}

void TaskReader::read_entry(const TableReader& root) {
  const TomlValue* table = root.find("entry");
  if (table == nullptr) {
    return;
  }
  const TableReader reader(
      *table, "entry", *errors_,
      {"function", "signature", "backend", "arguments", "copies", "workspace"});
  EntrySpec entry;
  entry.function = reader.string("function");
  entry.signature = reader.string("signature");
  entry.backend = read_backend(reader);
  entry.arguments = reader.strings("arguments");
  const auto members = [&](const std::string& key) {
    const TomlValue* value = reader.find(key);
    if (value != nullptr && value->kind != TomlValue::Kind::table) {
      reader.fail(key, fmt::format("expected a table, found {}", value->describe()));
      return std::vector<TomlValue>();
    }
    return value == nullptr ? std::vector<TomlValue>() : value->items;
  };
  for (const TomlValue& member : members("copies")) {
    if (member.kind != TomlValue::Kind::string) {
      reader.fail_at(member, "copies." + member.key, "expected the name of an input");
    }
    entry.copies[member.key] = member.text;
  }
  for (const TomlValue& member : members("workspace")) {
    entry.workspace[member.key] = reader.formula_in(member, "workspace." + member.key);
  }
  task_.entry = std::move(entry);
}

ImplementationSpec TaskReader::read_implementation(const TomlValue& table, const std::string& key) {
  std::vector<std::string> known = {"name", "backend", "file", "compiler", "options"};
  if (key == "comparator") {
    known.emplace_back("libraries");
  }
  const TableReader reader(table, key, *errors_, known);
  ImplementationSpec spec;
  spec.name = reader.string("name");
  spec.backend = read_backend(reader);
  spec.file = reader.string("file");
  spec.compiler = reader.string("compiler", "");
  spec.options = reader.strings("options");
  spec.libraries = reader.strings("libraries");
  return spec;
}

void TaskReader::read_implementations(const TableReader& root) {
  const auto read_all = [&](const std::string& key, std::vector<ImplementationSpec>& list) {
    std::map<std::string, int> lines;
    for (const TomlValue* table : tables(root, key)) {
      list.push_back(read_implementation(*table, key));
      const auto [entry, is_new] = lines.emplace(list.back().name, table->line);
      if (!is_new) {
        errors_->add(table->line, key + ".name",
                     fmt::format("the {} \"{}\" is already defined in line {}", key,
                                 list.back().name, entry->second));
      }
    }
  };
  read_all("baseline", task_.baselines);
  read_all("comparator", task_.comparators);
  if (task_.baselines.empty()) {
    root.fail("baseline",
              "a task needs at least one [[baseline]]: what candidates are compared to");
  }
}

void TaskReader::read_includes(const TableReader& root) {
  const TomlValue* const table = root.find("include");
  if (table == nullptr) {
    return;
  }
  std::vector<std::string> names;
  for (const TomlValue& member : table->items) {
    names.push_back(member.key);
    if (const Status plain = check_library_name(member.key); !plain) {
      errors_->add(member.line, "include", plain.error().message);
    }
  }
  const TableReader reader(*table, "include", *errors_, names);
  for (const std::string& name : names) {
    task_.includes[name] = reader.string(name);
  }
}

}  // namespace kernelpro
