#include "coordinator/task/task_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "coordinator/task/nearest.hpp"

namespace kernelpro {
namespace {

bool is_identifier(const std::string& name) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, is_word);
}

std::string trim(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\n\r");
  if (begin == std::string::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}

bool is_structured(ValueKind kind) {
  return kind != ValueKind::normal && kind != ValueKind::uniform && kind != ValueKind::drawn;
}

}  // namespace

Result<CallSpec> parse_call(const std::string& text) {
  const Error error = make_error(
      ErrorKind::bad_input,
      fmt::format("expected a call like \"gemm(m, n, k, A, B, C)\", found \"{}\"", text));
  const std::string whole = trim(text);
  const std::size_t open = whole.find('(');
  if (open == std::string::npos || whole.back() != ')') {
    return error;
  }
  CallSpec call;
  call.function = trim(whole.substr(0, open));
  if (!is_identifier(call.function)) {
    return error;
  }
  std::string rest = whole.substr(open + 1, whole.size() - open - 2);
  if (trim(rest).empty()) {
    return call;
  }
  for (std::size_t comma = 0; comma != std::string::npos;) {
    comma = rest.find(',');
    call.arguments.push_back(trim(rest.substr(0, comma)));
    if (!is_identifier(call.arguments.back())) {
      return error;
    }
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return call;
}

Task TaskReader::read(const TomlValue& root) {
  const TableReader reader(root, "", *errors_,
                           {"schema", "name", "family", "summary", "reduction", "axes", "input",
                            "output", "selection", "scalar", "tolerance", "work", "shapes",
                            "reference", "entry", "baseline", "comparator", "include"});
  if (const TomlValue* schema = reader.require("schema")) {
    const auto version = reader.integer_in(*schema, "schema");
    if (version && *version != task_schema) {
      reader.fail("schema", fmt::format("this program reads schema {}, the file has {}; update "
                                        "the program or write the file in schema {}",
                                        task_schema, *version, task_schema));
    }
  }
  task_.name = reader.string("name");
  task_.family = reader.string("family");
  task_.summary = reader.string("summary");
  task_.reduction = reader.formula("reduction", "1");
  read_axes(reader);
  for (const TomlValue* table : tables(reader, "input")) {
    read_input(*table);
  }
  for (const TomlValue* table : tables(reader, "output")) {
    read_output(*table);
  }
  if (task_.outputs.empty()) {
    reader.fail("output", "a task needs at least one [[output]]");
  }
  for (const TomlValue* table : tables(reader, "selection")) {
    read_selection(*table);
  }
  check_selects(reader);
  for (const TomlValue* table : tables(reader, "scalar")) {
    read_scalar(*table);
  }
  read_tolerance(reader);
  read_work(reader);
  read_shapes(reader);
  read_reference(reader);
  read_entry(reader);
  read_implementations(reader);
  read_includes(reader);
  return std::move(task_);
}

std::vector<const TomlValue*> TaskReader::tables(const TableReader& root, const std::string& key) {
  std::vector<const TomlValue*> list;
  const TomlValue* array = root.find(key);
  if (array == nullptr) {
    return list;
  }
  if (array->kind != TomlValue::Kind::array) {
    root.fail(key, fmt::format("expected [[{}]] (double brackets: there may be several), found {}",
                               key, array->describe()));
    return list;
  }
  for (const TomlValue& item : array->items) {
    list.push_back(&item);
  }
  return list;
}

void TaskReader::claim_name(const std::string& name, int line, const std::string& key) {
  if (!is_identifier(name)) {
    errors_->add(line, key,
                 fmt::format("\"{}\" is not a name: expected letters, digits and underscores, not "
                             "starting with a digit",
                             name));
    return;
  }
  const auto [entry, is_new] = lines_of_names_.emplace(name, line);
  if (!is_new) {
    errors_->add(line, key,
                 fmt::format("the name \"{}\" is already taken in line {}; axes, tensors, "
                             "selections and scalars need names of their own",
                             name, entry->second));
  }
}

std::string TaskReader::read_name(const TableReader& reader) {
  std::string name = reader.string("name");
  if (!name.empty()) {
    claim_name(name, reader.find("name")->line, reader.full("name"));
  }
  return name;
}

DType TaskReader::read_dtype(const TableReader& reader) {
  const std::string name = reader.string("dtype");
  const auto dtype = parse_dtype(name);
  if (!dtype) {
    reader.fail("dtype",
                fmt::format("\"{}\" is not an element type; known are {}", name, known_dtypes()));
  }
  return dtype.value_or(DType::f32);
}

void TaskReader::read_axes(const TableReader& root) {
  // A PyTorch module has sizes of its own.
  const TomlValue* reference = root.find("reference");
  if (reference != nullptr && reference->find("torch") != nullptr && root.find("axes") == nullptr) {
    return;
  }
  const TomlValue* table = root.require("axes");
  if (table == nullptr) {
    return;
  }
  if (table->kind != TomlValue::Kind::table || table->items.empty()) {
    root.fail("axes", "expected a table with at least one axis, like \"n = {}\"");
    return;
  }
  for (const TomlValue& member : table->items) {
    const std::string key = "axes." + member.key;
    claim_name(member.key, member.line, key);
    AxisSpec axis{.name = member.key, .derived = {}};
    if (member.kind == TomlValue::Kind::string) {
      axis.derived = root.formula_in(member, key);
    } else if (member.kind != TomlValue::Kind::table || !member.items.empty()) {
      errors_->add(member.line, key,
                   fmt::format("expected {{}} (a given axis) or a formula over other axes like "
                               "\"rows * 16\", found {}",
                               member.describe()));
    }
    task_.axes.push_back(std::move(axis));
  }
}

void TaskReader::read_input(const TomlValue& table) {
  const TableReader reader(table, "input", *errors_,
                           {"name", "dtype", "shape", "values", "constant", "parts"});
  TensorSpec tensor;
  tensor.name = read_name(reader);
  tensor.dtype = read_dtype(reader);
  tensor.shape = reader.formulas("shape");
  tensor.values = read_values(reader, tensor.dtype);
  tensor.constant = reader.boolean("constant", false);
  tensor.parts = reader.strings("parts");
  task_.inputs.push_back(std::move(tensor));
}

ValueSpec TaskReader::read_values(const TableReader& input, DType dtype) {
  ValueSpec spec;
  if (const TomlValue* values = input.find("values"); values != nullptr) {
    if (values->kind == TomlValue::Kind::table) {
      spec = read_value_table(input, *values);
    } else if (values->kind == TomlValue::Kind::string && values->text == "drawn") {
      spec.kind = ValueKind::drawn;
    } else if (values->kind != TomlValue::Kind::string || values->text != "normal") {
      input.fail("values", fmt::format("expected \"normal\" or a table like {{ kind = \"uniform\", "
                                       "low = 0.0, high = 1.0 }}, found {}",
                                       values->describe()));
    }
  }
  if (is_floating(dtype) && is_structured(spec.kind)) {
    input.fail("values", fmt::format("index, offsets and csr_columns are whole numbers, and this "
                                     "input is {}; expected normal or uniform",
                                     name_of(dtype)));
  }
  if (!is_floating(dtype) && spec.kind == ValueKind::normal) {
    input.fail("values", fmt::format("an input of {} must say which values it holds: expected a "
                                     "table like {{ kind = \"index\", bound = \"n\" }} (index, "
                                     "offsets, csr_columns or uniform)",
                                     name_of(dtype)));
  }
  return spec;
}

ValueSpec TaskReader::read_value_table(const TableReader& input, const TomlValue& table) {
  struct Known {
    ValueKind kind;
    const char* name;
    std::vector<std::string> keys;
  };
  static const std::vector<Known> kinds = {
      {.kind = ValueKind::normal, .name = "normal", .keys = {"kind"}},
      {.kind = ValueKind::uniform, .name = "uniform", .keys = {"kind", "low", "high"}},
      {.kind = ValueKind::index, .name = "index", .keys = {"kind", "bound"}},
      {.kind = ValueKind::offsets, .name = "offsets", .keys = {"kind", "bound"}},
      {.kind = ValueKind::csr_columns, .name = "csr_columns", .keys = {"kind", "bound", "rows_of"}},
  };
  ValueSpec spec;
  const TomlValue* kind = table.find("kind");
  const auto known = std::ranges::find_if(kinds, [&](const Known& candidate) {
    return kind != nullptr && kind->text == candidate.name;
  });
  if (known == kinds.end()) {
    input.fail_at(kind != nullptr ? *kind : table, "values.kind",
                  fmt::format("expected \"normal\", \"uniform\", \"index\", \"offsets\" or "
                              "\"csr_columns\", found {}",
                              kind != nullptr ? kind->describe() : "nothing"));
    return spec;
  }
  const TableReader reader(table, input.full("values"), *errors_, known->keys);
  spec.kind = known->kind;
  if (spec.kind == ValueKind::uniform) {
    spec.low = reader.number("low", spec.low);
    spec.high = reader.number("high", spec.high);
    if (spec.low >= spec.high) {
      reader.fail("low", fmt::format("low ({}) must be below high ({})", spec.low, spec.high));
    }
  }
  if (is_structured(spec.kind)) {
    spec.bound = reader.formula("bound");
  }
  if (spec.kind == ValueKind::csr_columns) {
    spec.rows_of = reader.string("rows_of");
  }
  return spec;
}

void TaskReader::read_output(const TomlValue& table) {
  const TableReader reader(table, "output", *errors_, {"name", "dtype", "shape", "selects"});
  TensorSpec tensor;
  tensor.name = read_name(reader);
  tensor.dtype = read_dtype(reader);
  tensor.shape = reader.formulas("shape");
  tensor.selects = reader.string("selects", "");
  if (!tensor.selects.empty() && tensor.dtype != DType::i32 && tensor.dtype != DType::i64) {
    reader.fail("selects", fmt::format("an output that selects is an index: expected dtype i32 or "
                                       "i64, found {}",
                                       name_of(tensor.dtype)));
  }
  task_.outputs.push_back(std::move(tensor));
}

void TaskReader::read_selection(const TomlValue& table) {
  const TableReader reader(table, "selection", *errors_, {"name", "shape", "best"});
  Selection selection;
  selection.name = read_name(reader);
  selection.shape = reader.formulas("shape");
  const std::string best = reader.string("best");
  if (best != "smallest" && best != "largest") {
    reader.fail("best", fmt::format(R"(expected "smallest" or "largest", found "{}")", best));
  }
  selection.smallest = best == "smallest";
  task_.selections.push_back(std::move(selection));
}

void TaskReader::check_selects(const TableReader& root) {
  std::vector<std::string> known;
  known.reserve(task_.selections.size());
  for (const Selection& selection : task_.selections) {
    known.push_back(selection.name);
  }
  const auto outputs = tables(root, "output");
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    const std::string& selects = task_.outputs[i].selects;
    if (!selects.empty() && std::ranges::find(known, selects) == known.end()) {
      const TomlValue* value = outputs[i]->find("selects");
      root.fail_at(*value, "output.selects",
                   fmt::format("there is no [[selection]] named \"{}\"{}", selects,
                               suggest(selects, known)));
    }
  }
}

void TaskReader::read_scalar(const TomlValue& table) {
  const TableReader reader(table, "scalar", *errors_, {"name", "dtype", "range", "value"});
  ScalarSpec scalar;
  scalar.name = read_name(reader);
  scalar.dtype = read_dtype(reader);
  if (!is_floating(scalar.dtype)) {
    reader.fail("dtype", "a scalar is a floating number; whole numbers are axes");
  }
  const TomlValue* range = reader.find("range");
  const bool has_value = reader.find("value") != nullptr;
  if ((range != nullptr) == has_value) {
    reader.fail("range", "expected either range = [low, high] or value = number");
  } else if (has_value) {
    scalar.low = scalar.high = reader.number("value");
  } else if (range->kind != TomlValue::Kind::array || range->items.size() != 2) {
    reader.fail("range",
                fmt::format("expected two numbers, [low, high], found {}", range->describe()));
  } else {
    scalar.low = reader.number_in(range->items[0], "range").value_or(0);
    scalar.high = reader.number_in(range->items[1], "range").value_or(0);
    if (scalar.low > scalar.high) {
      reader.fail("range", fmt::format("low ({}) is above high ({})", scalar.low, scalar.high));
    }
  }
  task_.scalars.push_back(std::move(scalar));
}

void TaskReader::read_tolerance(const TableReader& root) {
  const TomlValue* table = root.find("tolerance");
  if (table == nullptr) {
    return;
  }
  const TableReader reader(
      *table, "tolerance", *errors_,
      {"baseline_factor", "rounding_factor", "deterministic", "allow_precision"});
  ToleranceSpec& tolerance = task_.tolerance;
  tolerance.baseline_factor = reader.number("baseline_factor", tolerance.baseline_factor);
  tolerance.rounding_factor = reader.number("rounding_factor", tolerance.rounding_factor);
  for (const auto& [name, factor] : {std::pair{"baseline_factor", tolerance.baseline_factor},
                                     std::pair{"rounding_factor", tolerance.rounding_factor}}) {
    if (factor <= 0) {
      reader.fail(name, fmt::format("expected a number above 0, found {}", factor));
    }
  }
  tolerance.deterministic = reader.boolean("deterministic", false);
  tolerance.allow_precision = reader.strings("allow_precision");
  const std::vector<std::string> known = {"f16", "bf16", "tf32"};
  for (const std::string& name : tolerance.allow_precision) {
    if (std::ranges::find(known, name) == known.end()) {
      reader.fail("allow_precision",
                  fmt::format("\"{}\" is not a lower precision{}", name, suggest(name, known)));
    }
  }
}

void TaskReader::read_work(const TableReader& root) {
  if (const TomlValue* table = root.require("work")) {
    const TableReader reader(*table, "work", *errors_, {"flops", "bytes"});
    task_.work.flops = reader.formula("flops");
    task_.work.bytes = reader.formula("bytes");
  }
}

}  // namespace kernelpro
