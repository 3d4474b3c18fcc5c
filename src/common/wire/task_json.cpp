#include <array>
#include <nlohmann/json.hpp>

#include "common/base/hash.hpp"
#include "common/model/enum_names.hpp"
#include "common/wire/json.hpp"
#include "common/wire/values.hpp"

namespace kernelpro {

std::string_view name_of(ValueKind kind) {
  static constexpr std::array<std::string_view, 6> names = {"normal",  "uniform", "index",
                                                            "offsets", "drawn",   "csr_columns"};
  return enum_name(names, kind);
}

KP_LAST(DType, u8);
KP_LAST(ValueKind, csr_columns);

KP_DESCRIBE(ValueSpec, kind, low, high, bound, rows_of)

void describe(Form& form, TensorSpec& tensor) {
  KP_FIELDS(form, tensor, name, dtype, shape, values, constant, selects);
  form.nonempty("parts", tensor.parts);
}

KP_DESCRIBE(Selection, name, shape, smallest)
KP_DESCRIBE(ScalarSpec, name, dtype, low, high)

void describe(Form& form, AxisSpec& axis) {
  form("name", axis.name);
  form.maybe("derived", axis.derived);
}

void describe(Form& form, ReferenceSpec& reference) {
  form("file", reference.file);
  KP_FIELDS(form, reference.call, function, arguments);
  form.maybe("torch", reference.torch, reference.torch);
  form.maybe("baseline", reference.baseline, reference.baseline);
  form.maybe("products", reference.products);
  form.nonempty("runs", reference.runs);
  form.nonempty("without_effect", reference.without_effect);
}

KP_DESCRIBE(EntrySpec, function, signature, backend, arguments, copies, workspace)
KP_DESCRIBE(ImplementationSpec, name, backend, file, compiler, options, libraries)
KP_DESCRIBE(ToleranceSpec, baseline_factor, rounding_factor, deterministic, allow_precision)
KP_DESCRIBE(WorkSpec, flops, bytes)

void describe(Form& form, Task& task) {
  KP_FIELDS(form, task, name, family, summary, axes, inputs, outputs, selections, scalars,
            reduction, tolerance, work, timed_shapes);
  // Left out where there are none, so that the hashes of such tasks stay what they were.
  for (const Backend backend : backends) {
    const std::string key = name_of(backend) + "_shapes";
    if (form.reading() ? form.has(key) : task.shapes_on.contains(backend)) {
      form(key, task.shapes_on[backend]);
    }
  }
  KP_FIELDS(form, task, held_out, reference);
  form.maybe("entry", task.entry);
  KP_FIELDS(form, task, baselines, comparators, files);
}

KP_JSON_OF(Task, task_from_json)

std::string task_hash(const Task& task) {
  return sha256(to_json(task).dump());
}

}  // namespace kernelpro
