#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "common/wire/values.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<ValueKind, std::string_view>, 6> value_kinds = {{
    {ValueKind::normal, "normal"},
    {ValueKind::uniform, "uniform"},
    {ValueKind::index, "index"},
    {ValueKind::offsets, "offsets"},
    {ValueKind::csr_columns, "csr_columns"},
    {ValueKind::drawn, "drawn"},
}};

std::string_view value_kind_name(ValueKind kind) {
  const auto* found =
      std::ranges::find(value_kinds, kind, &std::pair<ValueKind, std::string_view>::first);
  return found->second;
}

std::optional<ValueKind> parse_value_kind(std::string_view name) {
  for (const auto& [kind, known] : value_kinds) {
    if (known == name) {
      return kind;
    }
  }
  return std::nullopt;
}

json write_values(const ValueSpec& values) {
  return {{"kind", value_kind_name(values.kind)},
          {"low", write_number(values.low)},
          {"high", write_number(values.high)},
          {"bound", write_text(values.bound.text())},
          {"rows_of", write_text(values.rows_of)}};
}

ValueSpec read_values(const Place& place) {
  Fields fields(place);
  ValueSpec values;
  values.kind = fields.at("kind").name(parse_value_kind,
                                       "normal, uniform, index, offsets, csr_columns, drawn");
  values.low = fields.at("low").number();
  values.high = fields.at("high").number();
  values.bound = fields.at("bound").formula();
  values.rows_of = fields.at("rows_of").text();
  fields.end();
  return values;
}

DType read_dtype(const Place& place) {
  return place.name(parse_dtype, known_dtypes());
}

std::vector<Formula> read_formulas(const Place& place) {
  return place.list([](const Place& item) { return item.formula(); });
}

json write_tensor(const TensorSpec& tensor) {
  return {{"name", write_text(tensor.name)},       {"dtype", name_of(tensor.dtype)},
          {"shape", write_formulas(tensor.shape)}, {"values", write_values(tensor.values)},
          {"constant", tensor.constant},           {"selects", write_text(tensor.selects)}};
}

TensorSpec read_tensor(const Place& place) {
  Fields fields(place);
  TensorSpec tensor;
  tensor.name = fields.at("name").text();
  tensor.dtype = read_dtype(fields.at("dtype"));
  tensor.shape = read_formulas(fields.at("shape"));
  tensor.values = read_values(fields.at("values"));
  tensor.constant = fields.at("constant").truth();
  tensor.selects = fields.at("selects").text();
  fields.end();
  return tensor;
}

json write_selection(const Selection& selection) {
  return {{"name", write_text(selection.name)},
          {"shape", write_formulas(selection.shape)},
          {"smallest", selection.smallest}};
}

Selection read_selection(const Place& place) {
  Fields fields(place);
  Selection selection;
  selection.name = fields.at("name").text();
  selection.shape = read_formulas(fields.at("shape"));
  selection.smallest = fields.at("smallest").truth();
  fields.end();
  return selection;
}

json write_scalar(const ScalarSpec& scalar) {
  return {{"name", write_text(scalar.name)},
          {"dtype", name_of(scalar.dtype)},
          {"low", write_number(scalar.low)},
          {"high", write_number(scalar.high)}};
}

ScalarSpec read_scalar(const Place& place) {
  Fields fields(place);
  ScalarSpec scalar;
  scalar.name = fields.at("name").text();
  scalar.dtype = read_dtype(fields.at("dtype"));
  scalar.low = fields.at("low").number();
  scalar.high = fields.at("high").number();
  fields.end();
  return scalar;
}

json write_axis(const AxisSpec& axis) {
  json object = {{"name", write_text(axis.name)}};
  if (axis.derived.has_value()) {
    object["derived"] = write_text(axis.derived->text());
  }
  return object;
}

AxisSpec read_axis(const Place& place) {
  Fields fields(place);
  AxisSpec axis;
  axis.name = fields.at("name").text();
  if (const auto derived = fields.maybe("derived")) {
    axis.derived = derived->formula();
  }
  fields.end();
  return axis;
}

json write_reference(const ReferenceSpec& reference) {
  json out = {{"file", write_text(reference.file)},
              {"function", write_text(reference.call.function)},
              {"arguments", write_texts(reference.call.arguments)}};
  if (reference.torch) {
    out["torch"] = true;
  }
  if (reference.baseline) {
    out["baseline"] = true;
  }
  return out;
}

ReferenceSpec read_reference(const Place& place) {
  Fields fields(place);
  ReferenceSpec reference;
  reference.file = fields.at("file").text();
  reference.call.function = fields.at("function").text();
  reference.call.arguments = fields.at("arguments").texts();
  if (const std::optional<Place> torch = fields.maybe("torch")) {
    reference.torch = torch->truth();
  }
  if (const std::optional<Place> baseline = fields.maybe("baseline")) {
    reference.baseline = baseline->truth();
  }
  fields.end();
  return reference;
}

json write_entry(const EntrySpec& entry) {
  json workspace = json::object();
  for (const auto& [name, bytes] : entry.workspace) {
    workspace[valid_utf8(name)] = write_text(bytes.text());
  }
  return {{"function", write_text(entry.function)}, {"signature", write_text(entry.signature)},
          {"backend", name_of(entry.backend)},      {"arguments", write_texts(entry.arguments)},
          {"copies", write_text_map(entry.copies)}, {"workspace", workspace}};
}

EntrySpec read_entry(const Place& place) {
  Fields fields(place);
  EntrySpec entry;
  entry.function = fields.at("function").text();
  entry.signature = fields.at("signature").text();
  entry.backend = fields.at("backend").name(parse_backend, backend_list());
  entry.arguments = fields.at("arguments").texts();
  entry.copies = fields.at("copies").map([](const Place& p) { return p.text(); });
  entry.workspace = fields.at("workspace").map([](const Place& p) { return p.formula(); });
  fields.end();
  return entry;
}

json write_implementation(const ImplementationSpec& implementation) {
  return {{"name", write_text(implementation.name)},
          {"backend", name_of(implementation.backend)},
          {"file", write_text(implementation.file)},
          {"compiler", write_text(implementation.compiler)},
          {"options", write_texts(implementation.options)},
          {"libraries", write_texts(implementation.libraries)}};
}

ImplementationSpec read_implementation(const Place& place) {
  Fields fields(place);
  ImplementationSpec implementation;
  implementation.name = fields.at("name").text();
  implementation.backend = fields.at("backend").name(parse_backend, backend_list());
  implementation.file = fields.at("file").text();
  implementation.compiler = fields.at("compiler").text();
  implementation.options = fields.at("options").texts();
  implementation.libraries = fields.at("libraries").texts();
  fields.end();
  return implementation;
}

json write_tolerance(const ToleranceSpec& tolerance) {
  return {{"baseline_factor", write_number(tolerance.baseline_factor)},
          {"rounding_factor", write_number(tolerance.rounding_factor)},
          {"deterministic", tolerance.deterministic},
          {"allow_precision", write_texts(tolerance.allow_precision)}};
}

ToleranceSpec read_tolerance(const Place& place) {
  Fields fields(place);
  ToleranceSpec tolerance;
  tolerance.baseline_factor = fields.at("baseline_factor").number();
  tolerance.rounding_factor = fields.at("rounding_factor").number();
  tolerance.deterministic = fields.at("deterministic").truth();
  tolerance.allow_precision = fields.at("allow_precision").texts();
  fields.end();
  return tolerance;
}

json write_work(const WorkSpec& work) {
  return {{"flops", write_text(work.flops.text())}, {"bytes", write_text(work.bytes.text())}};
}

WorkSpec read_work(const Place& place) {
  Fields fields(place);
  WorkSpec work;
  work.flops = fields.at("flops").formula();
  work.bytes = fields.at("bytes").formula();
  fields.end();
  return work;
}

json write_held_out(const std::map<std::string, AxisRange>& ranges) {
  json object = json::object();
  for (const auto& [axis, range] : ranges) {
    object[valid_utf8(axis)] = json::array({range.low, range.high});
  }
  return object;
}

AxisRange read_range(const Place& place) {
  const auto ends = place.list([](const Place& end) { return end.integer(); });
  if (ends.size() != 2) {
    place.complain_expected("the two whole numbers [low, high]");
    return {};
  }
  return {.low = ends[0], .high = ends[1]};
}

}  // namespace

Task read_task(const Place& place) {
  Fields fields(place);
  Task task;
  task.name = fields.at("name").text();
  task.family = fields.at("family").text();
  task.summary = fields.at("summary").text();
  task.axes = fields.at("axes").list(read_axis);
  task.inputs = fields.at("inputs").list(read_tensor);
  task.outputs = fields.at("outputs").list(read_tensor);
  task.selections = fields.at("selections").list(read_selection);
  task.scalars = fields.at("scalars").list(read_scalar);
  task.reduction = fields.at("reduction").formula();
  task.tolerance = read_tolerance(fields.at("tolerance"));
  task.work = read_work(fields.at("work"));
  task.timed_shapes = fields.at("timed_shapes").list([](const Place& p) { return p.axes(); });
  for (const Backend backend : backends) {
    if (const auto shapes = fields.maybe(name_of(backend) + "_shapes")) {
      task.shapes_on[backend] = shapes->list([](const Place& p) { return p.axes(); });
    }
  }
  task.held_out = fields.at("held_out").map(read_range);
  task.reference = read_reference(fields.at("reference"));
  if (const auto entry = fields.maybe("entry")) {
    task.entry = read_entry(*entry);
  }
  task.baselines = fields.at("baselines").list(read_implementation);
  task.comparators = fields.at("comparators").list(read_implementation);
  task.files = fields.at("files").map([](const Place& p) { return p.text(); });
  fields.end();
  return task;
}

}  // namespace wire

nlohmann::json to_json(const Task& task) {
  using namespace wire;
  nlohmann::json object = {{"name", write_text(task.name)},
                           {"family", write_text(task.family)},
                           {"summary", write_text(task.summary)},
                           {"axes", write_list(task.axes, write_axis)},
                           {"inputs", write_list(task.inputs, write_tensor)},
                           {"outputs", write_list(task.outputs, write_tensor)},
                           {"selections", write_list(task.selections, write_selection)},
                           {"scalars", write_list(task.scalars, write_scalar)},
                           {"reduction", write_text(task.reduction.text())},
                           {"tolerance", write_tolerance(task.tolerance)},
                           {"work", write_work(task.work)},
                           {"timed_shapes", write_list(task.timed_shapes, write_axes)},
                           {"held_out", write_held_out(task.held_out)},
                           {"reference", write_reference(task.reference)},
                           {"baselines", write_list(task.baselines, write_implementation)},
                           {"comparators", write_list(task.comparators, write_implementation)},
                           {"files", write_text_map(task.files)}};
  // Left out where there are none, so that the hashes of such tasks stay what they were.
  for (const auto& [backend, shapes] : task.shapes_on) {
    object[name_of(backend) + "_shapes"] = write_list(shapes, write_axes);
  }
  if (task.entry) {
    object["entry"] = write_entry(*task.entry);
  }
  return object;
}

Result<Task> task_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_task);
}

std::string task_hash(const Task& task) {
  return sha256(to_json(task).dump());
}

}  // namespace kernelpro
