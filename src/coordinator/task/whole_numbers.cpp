// What trials have in tensors of whole numbers, and what tasks say of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/task/fit_shape.hpp"
#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {
namespace {

// "rows" of "rows + 1".
std::string one_less(const std::string& extent) {
  constexpr std::string_view plus = " + 1";
  return extent.ends_with(plus) ? extent.substr(0, extent.size() - plus.size())
                                : "(" + extent + " - 1)";
}

std::string plain_range(const Leaf& leaf, const WholeNumbers& numbers) {
  if (!leaf.element.enumerators.empty()) {
    const EnumeratorRun run = longest_run(leaf.element.enumerators);
    // One number alone is a range that holds no other whole number.
    return fmt::format("uniform:{}:{}{}", run.low, run.high, run.low == run.high ? ".5" : "");
  }
  const auto range = [&](std::int64_t low, std::int64_t high) {
    const bool less = numbers.bounded_below && low < numbers.least_plain;
    return fmt::format("uniform:{}:{}", less ? numbers.least_plain : low, high);
  };
  const bool is_unsigned = leaf.element.is_unsigned;
  switch (leaf.element.dtype) {
    case DType::u8:
      return range(0, 255);
    case DType::i8:
      return range(-128, 127);
    case DType::i16:
      // The upper half of numbers without a sign lies below zero here.
      return range(is_unsigned && numbers.bounded_below ? 0 : -32768, 32767);
    default:
      return range(is_unsigned ? 0 : -1000, 1000);
  }
}

}  // namespace

TrialCall WholeNumbers::trial(const Axes& axes) const {
  TrialCall call{axes, plain, {}, 0};
  for (const auto& [name, index] : indices) {
    call.filling[name] = {Filling::Kind::constant, trial_index};
  }
  if (!offsets.empty()) {
    call.filling[offsets] = {Filling::Kind::ramp, trial_ramp};
  }
  return call;
}

std::vector<TrialCall> WholeNumbers::trials(const Axes& axes) const {
  std::vector<TrialCall> calls = {trial(axes)};
  for (const Fillings& other : others) {
    calls.push_back(calls[0]);
    for (const auto& [tensor, filling] : other) {
      calls.back().filling[tensor] = filling;
    }
  }
  return calls;
}

Axes WholeNumbers::with_entries(Axes axes, const TrialResult& result) const {
  if (!offsets.empty()) {
    const std::int64_t rows = result.tensors.at(offsets).reach() - 1;
    axes[entries] = static_cast<std::int64_t>(trial_ramp) * rows;
  }
  return axes;
}

std::optional<std::vector<std::string>> WholeNumbers::shape_of(
    const std::string& tensor, const std::vector<Observation>& seen,
    const std::vector<std::string>& axes) const {
  const auto index = std::ranges::find_if(indices, [&](const auto& one) {
    return (one.second.free && one.second.target == tensor) || contains(one.second.others, tensor);
  });
  if (index == indices.end()) {
    return {};
  }
  const std::string& rows_axis = index->second.free ? index->second.bound : index->second.below;
  if (rows_axis.empty()) {
    return {};
  }
  // Row `trial_index` is the last that was touched, so what is touched are that many rows and one.
  constexpr auto rows = static_cast<std::int64_t>(trial_index) + 1;
  std::vector<Reach> widths;
  for (const Observation& one : seen) {
    const std::int64_t reach = one.result.tensors.at(tensor).reach();
    if (reach % rows != 0) {
      return {};
    }
    widths.push_back({only(one.axes, axes), reach / rows});
  }
  const auto width = fit_shape(widths);
  if (!width) {
    return {};
  }
  std::vector<std::string> shape = {rows_axis};
  if (*width != std::vector<std::string>{"1"}) {
    shape.insert(shape.end(), width->begin(), width->end());
  }
  return shape;
}

std::string WholeNumbers::bound_of(const std::string& tensor, const NewTask& request) const {
  const auto index = indices.find(tensor);
  if (index == indices.end() || !index->second.bound.empty() ||
      !request.shapes.contains(index->second.target)) {
    return index == indices.end() ? "" : index->second.bound;
  }
  const std::vector<std::string>& shape = request.shapes.at(index->second.target);
  return contains(shape, index->second.below) ? index->second.below : shape.front();
}

void WholeNumbers::describe(NewTask& request, const OwnCall& call,
                            const std::vector<std::string>& only_read) const {
  for (const std::string& axis : more_axes) {
    if (!contains(request.more_axes, axis)) {
      request.more_axes.push_back(axis);
    }
  }
  if (!offsets.empty() && request.shapes.contains(offsets)) {
    request.values.emplace(offsets, "offsets:" + entries);
    request.derived.emplace(entries, one_less(request.shapes.at(offsets)[0]) + "*8");
  }
  for (const Leaf& leaf : call.leaves) {
    const bool read = contains(only_read, leaf.name) || contains(request.inouts, leaf.name);
    if (!read || leaf.kind != Leaf::Kind::tensor || is_floating(leaf.element.dtype) ||
        request.values.contains(leaf.name) || !request.shapes.contains(leaf.name)) {
      continue;
    }
    const std::string bound = bound_of(leaf.name, request);
    if (bound.empty()) {
      request.values[leaf.name] = plain_range(leaf, *this);
    } else if (!offsets.empty() && request.shapes.at(leaf.name) == std::vector{entries}) {
      request.values[leaf.name] = fmt::format("csr_columns:{}:{}", bound, offsets);
    } else {
      request.values[leaf.name] = "index:" + bound;
    }
  }
}

}  // namespace kernelpro::learn
