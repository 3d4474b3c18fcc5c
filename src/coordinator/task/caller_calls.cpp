#include "coordinator/task/caller_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/random.hpp"
#include "coordinator/task/array_content.hpp"

namespace kernelpro {
namespace {

constexpr std::int64_t most_numbers = 1 << 17;  // of all arrays of a call
constexpr std::size_t ordinary_sizes = 3;

const TensorSpec* find_tensor(const std::vector<TensorSpec>& list, const std::string& name) {
  const auto found = std::ranges::find(list, name, &TensorSpec::name);
  return found == list.end() ? nullptr : &*found;
}

Result<std::vector<LeafTensor>> leaf_tensors(const Task& task, const OwnCall& call) {
  const EntrySpec& entry = *task.entry;
  std::vector<LeafTensor> tensors;
  for (std::size_t i = 0; i < call.leaves.size(); ++i) {
    if (call.leaves[i].kind != Leaf::Kind::tensor) {
      continue;
    }
    const std::string& name = entry.arguments[i];
    LeafTensor tensor;
    tensor.leaf = &call.leaves[i];
    const auto scratch = entry.workspace.find(name);
    if (const TensorSpec* output = find_tensor(task.outputs, name)) {
      const auto copied = entry.copies.find(name);
      tensor.role = LeafRole::output;
      tensor.spec = output;
      tensor.content =
          copied == entry.copies.end() ? nullptr : find_tensor(task.inputs, copied->second);
    } else if (const TensorSpec* input = find_tensor(task.inputs, name)) {
      tensor.spec = tensor.content = input;
    } else if (scratch != entry.workspace.end()) {
      tensor.role = LeafRole::workspace;
      tensor.bytes = &scratch->second;
    } else {
      return make_error(
          ErrorKind::bad_input,
          fmt::format("the task has no tensor {}: it was made of another function", name));
    }
    tensors.push_back(tensor);
  }
  return tensors;
}

class CallerPlanner {
 public:
  CallerPlanner(const Task& task, const OwnCall& call, std::vector<LeafTensor> tensors)
      : task_(task), call_(call) {
    plan_.tensors = std::move(tensors);
  }

  CallerPlan plan() {
    const std::vector<Axes> shapes = ordinary_shapes();
    for (const Axes& shape : shapes) {
      add("", shape, aligned, {});
    }
    for (const Axes& shape : shapes) {
      add("its arrays are not aligned", shape, 1, {});
    }
    plan_sizes(shapes.front());
    plan_same_arrays(shapes);
    return std::move(plan_);
  }

 private:
  static std::optional<std::int64_t> bytes_of(const LeafTensor& tensor, const Axes& axes) {
    if (tensor.role == LeafRole::workspace) {
      const auto bytes = tensor.bytes->evaluate_size(axes);
      return bytes.ok() ? std::optional(*bytes) : std::nullopt;
    }
    const auto shape = evaluate_shape(tensor.spec->shape, axes);
    if (!shape.ok()) {
      return {};
    }
    auto bytes = static_cast<std::int64_t>(size_of(tensor.spec->dtype));
    for (const std::int64_t extent : *shape) {
      bytes *= extent;
    }
    return bytes;
  }

  [[nodiscard]] bool is_small(const Axes& shape) const {
    const auto axes = complete_axes(task_, shape);
    std::int64_t bytes = 0;
    for (const LeafTensor& tensor : plan_.tensors) {
      bytes += axes.ok() ? bytes_of(tensor, *axes).value_or(0) : 0;
    }
    return bytes <= 8 * most_numbers;
  }

  // Drawn from where the judge draws its own; they differ from axis to axis.
  [[nodiscard]] std::vector<Axes> ordinary_shapes() const {
    std::vector<Axes> shapes;
    for (std::size_t i = 0; i < ordinary_sizes; ++i) {
      std::int64_t part = 1;
      Axes shape;
      do {
        Random random(i + 1);
        for (const auto& [name, range] : task_.held_out) {
          const std::int64_t width = (range.high - range.low) / part;
          shape[name] = range.at_most(range.low + width -
                                      static_cast<std::int64_t>(random.below(
                                          static_cast<std::uint64_t>(width * 2 / 3 + 1))));
        }
        part *= 2;
      } while (!is_small(shape) && part < (std::int64_t{1} << 40));
      shapes.push_back(std::move(shape));
    }
    return shapes;
  }

  // Left out where a size or a value that the task asks for does not exist.
  void add(std::string when, const Axes& shape, std::int64_t numbers_off,
           const std::optional<SameArray>& same) {
    const auto axes = complete_axes(task_, shape);
    if (!axes.ok()) {
      return;
    }
    PlannedCall planned{std::move(when), *axes, {}, {}};
    if (fill_numbers(planned) && fill_arrays(planned, numbers_off)) {
      if (same) {
        add_apart(planned, *same);
        planned.same = same;
        planned.call.arrays[same->output].same = static_cast<std::int64_t>(same->input);
      }
      plan_.calls.push_back(std::move(planned));
    }
  }

  void add_apart(PlannedCall apart, const SameArray& same) {
    apart.when.clear();
    apart.call.arrays[same.output].content = apart.call.arrays[same.input].content;
    plan_.calls.push_back(std::move(apart));
  }

  [[nodiscard]] bool fill_numbers(PlannedCall& planned) const {
    for (std::size_t i = 0; i < call_.leaves.size(); ++i) {
      const std::string& argument = task_.entry->arguments[i];
      const auto formula = Formula::parse(argument);
      const auto value = formula.ok() ? formula->evaluate(planned.axes) : Result<double>(0.0);
      const auto scalar = std::ranges::find(task_.scalars, argument, &ScalarSpec::name);
      if (call_.leaves[i].kind == Leaf::Kind::axis) {
        if (!formula.ok() || !value.ok()) {
          return false;
        }
        planned.call.sizes.push_back(static_cast<std::int64_t>(*value));
      } else if (call_.leaves[i].kind == Leaf::Kind::scalar) {
        const bool drawn = scalar != task_.scalars.end();
        if (!drawn && (!formula.ok() || !value.ok())) {
          return false;
        }
        planned.call.scalars.push_back(drawn ? 0.25 * scalar->low + 0.75 * scalar->high : *value);
      }
    }
    return true;
  }

  [[nodiscard]] bool fill_arrays(PlannedCall& planned, std::int64_t numbers_off) const {
    ArrayContent drawer(7);
    // Row offsets come before what they count.
    for (const TensorSpec& input : task_.inputs) {
      const auto shape = evaluate_shape(input.shape, planned.axes);
      std::int64_t count = 1;
      for (const std::int64_t extent : shape.ok() ? *shape : std::vector<std::int64_t>{}) {
        count *= extent;
      }
      if (input.values.kind == ValueKind::offsets &&
          (!shape.ok() || !drawer.draw(input, count, planned.axes))) {
        return false;
      }
    }
    for (const LeafTensor& tensor : plan_.tensors) {
      const auto bytes = bytes_of(tensor, planned.axes);
      if (!bytes) {
        return false;
      }
      CallerArray array;
      const std::size_t number = tensor.spec == nullptr ? 1 : size_of(tensor.spec->dtype);
      const auto content =
          tensor.content == nullptr
              ? std::optional(drawer.rubbish(*bytes))
              : drawer.draw(*tensor.content, *bytes / static_cast<std::int64_t>(number),
                            planned.axes);
      if (!content) {
        return false;
      }
      array.content = *content;
      const bool moves = tensor.role != LeafRole::workspace && numbers_off > 0;
      array.place =
          moves ? numbers_off * static_cast<std::int64_t>(number) : std::min(numbers_off, aligned);
      planned.call.arrays.push_back(std::move(array));
    }
    return true;
  }

  void plan_sizes(const Axes& usual) {
    for (const std::int64_t size : {0, 1}) {
      for (const auto& [name, unused] : usual) {
        Axes shape = usual;
        shape[name] = size;
        add(fmt::format("{} is {}", name, size), shape, at_end_of_memory, {});
      }
      if (usual.size() > 1) {
        Axes shape = usual;
        for (auto& [name, value] : shape) {
          value = size;
        }
        add(fmt::format("all sizes are {}", size), shape, at_end_of_memory, {});
      }
    }
  }

  // One array may be both where the types say so and the extents are equal at all sizes.
  [[nodiscard]] bool may_be_same(const SameArray& pair, const std::vector<Axes>& shapes) const {
    const LeafTensor& output = plan_.tensors[pair.output];
    const LeafTensor& input = plan_.tensors[pair.input];
    if (output.role != LeafRole::output || input.role != LeafRole::input ||
        !output.leaf->in_place || !input.leaf->in_place || output.leaf->returned ||
        output.leaf->restricted || input.leaf->restricted ||
        output.leaf->element.text != input.leaf->element.text) {
      return false;
    }
    return std::ranges::all_of(shapes, [&](const Axes& shape) {
      const auto axes = complete_axes(task_, shape);
      return axes.ok() && bytes_of(output, *axes) == bytes_of(input, *axes);
    });
  }

  void plan_same_arrays(const std::vector<Axes>& shapes) {
    for (std::size_t output = 0; output < plan_.tensors.size(); ++output) {
      for (std::size_t input = 0; input < plan_.tensors.size(); ++input) {
        const SameArray pair{output, input};
        if (!may_be_same(pair, shapes)) {
          continue;
        }
        for (const Axes& shape : shapes) {
          add(fmt::format("{} and {} are the same array", plan_.tensors[input].leaf->name,
                          plan_.tensors[output].leaf->name),
              shape, aligned, pair);
        }
      }
    }
  }

  const Task& task_;
  const OwnCall& call_;
  CallerPlan plan_;
};

}  // namespace

Result<CallerPlan> plan_callers(const Task& task, const OwnCall& call) {
  if (!task.entry || task.entry->arguments.size() != call.leaves.size()) {
    return make_error(ErrorKind::bad_input, "the task was made of another function");
  }
  KP_LET(std::vector<LeafTensor> tensors, leaf_tensors(task, call));
  return CallerPlanner(task, call, std::move(tensors)).plan();
}

}  // namespace kernelpro
