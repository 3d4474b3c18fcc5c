#include "coordinator/propose/agents/tolerance_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

struct DistributionMeaning {
  std::string_view name;
  std::string_view meaning;
};

// docs/judge.md says why each is tried.
constexpr auto meanings_of_values = std::to_array<DistributionMeaning>({
    {"normal", "as the table of tensors says"},
    {"uniform", "in [-1, 1)"},
    {"large", "normal times 2^12 (2^4 in f16)"},
    {"tiny", "normal over 2^12 (2^4 in f16)"},
    {"constant", "one value everywhere"},
    {"negative", "large, all of an input of one sign, one input at least below zero"},
    {"positive", "large and all above zero"},
    {"mixed", "signs and magnitudes from tiny to large, one element in sixteen zero"},
    {"spiked", "normal, in some inputs a few elements large or a few rows shifted"},
    {"shifted", "normal plus one offset of at least 2^12 (2^9 in f16, 2^7 in bf16)"},
});

// The judge's error and bound when it judged the baseline on such inputs; of several checks, those
// of the one with the smallest bound.
struct BoundRow {
  std::string inputs;
  std::string distribution;
  double error = 0;
  double bound = 0;
};

// Timed shapes stand for themselves: their sums are the longest.
std::string inputs_text(const Task& task, const CheckRecord& check) {
  const bool timed = check.stage == Stage::timed_shapes && !task.axes.empty();
  return timed ? fmt::format("{} at {}", check.distribution, shape_text(task, check.shape))
               : check.distribution;
}

std::vector<BoundRow> bound_rows(const AgentOrder& order) {
  const auto root =
      std::ranges::find(order.all, root_node, [](const Tried& one) { return one.node.id; });
  std::vector<BoundRow> rows;
  if (root == order.all.end() || !root->verdict) {
    return rows;
  }
  for (const CheckRecord& check : root->verdict->checks) {
    const BoundRow row{inputs_text(order.run->task, check), check.distribution, check.error,
                       check.bound};
    const auto known = std::ranges::find(rows, row.inputs, &BoundRow::inputs);
    if (!(check.bound > 0)) {
      continue;
    }
    if (known == rows.end()) {
      rows.push_back(row);
    } else if (row.bound < known->bound) {
      *known = row;
    }
  }
  return rows;
}

// What PyTorch's modules are given is drawn by themselves.
std::string torch_values_text(const Task& task) {
  std::string out =
      "\n`normal` is as get_inputs() draws the inputs, `mixed` the same with a random sign for "
      "each value.";
  const bool parameters = std::ranges::any_of(
      task.inputs, [](const TensorSpec& input) { return !input.name.starts_with("input_"); });
  return out + (parameters
                    ? " Parameters have the values of a module that is built anew each time; those "
                      "that every fresh module has alike (the ones and zeros of a normalization) "
                      "get noise between 0 and 0.5 added. Buffers are those of a fresh module.\n"
                    : "\n");
}

std::string values_legend(const Task& task, const std::vector<BoundRow>& rows) {
  if (task.reference.torch) {
    return torch_values_text(task);
  }
  std::vector<std::string> known;
  for (const DistributionMeaning& one : meanings_of_values) {
    if (std::ranges::find(rows, one.name, &BoundRow::distribution) != rows.end()) {
      known.push_back(fmt::format("`{}` {}", one.name, one.meaning));
    }
  }
  return known.empty() ? "" : fmt::format("\nThe inputs: {}.\n", fmt::join(known, "; "));
}

std::string bounds_text(const AgentOrder& order) {
  constexpr std::size_t most = 14;
  const std::vector<BoundRow> rows = bound_rows(order);
  if (rows.empty()) {
    return "";
  }
  std::string out =
      "\nAs numbers, when the baseline was judged (on other inputs they move a little; of several "
      "shapes, those of the one with the smallest bound):\n\n"
      "| inputs | e(baseline) | bound |\n|---|---|---|\n";
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    out += fmt::format("| {} | {:.2g} | {:.2g} |\n", rows[i].inputs, rows[i].error, rows[i].bound);
  }
  return out + values_legend(order.run->task, rows);
}

// What rounding alone explains at the least of the shapes that are drawn; nothing where shapes are
// fixed or sums as long in all of them.
std::string least_rounding(const Task& task, DType type, double timed_terms) {
  Axes given;
  for (const auto& [axis, range] : task.held_out) {
    given[axis] = range.low;
  }
  const Result<Axes> axes = complete_axes(task, given);
  const Result<double> terms =
      axes && !given.empty() ? task.reduction.evaluate(*axes) : Result<double>(0);
  return terms && *terms > 0 && *terms < timed_terms
             ? fmt::format("; at the least of the drawn shapes, with K = {:g}, it is {:.2g}",
                           *terms, task.tolerance.rounding_factor * rounding_of_sum(type, *terms))
             : "";
}

// What rounding alone explains at the shapes that are timed.
std::string rounding_numbers(const AgentOrder& order, DType type) {
  const Task& task = order.run->task;
  std::vector<std::string> out;
  double most_terms = 0;
  for (const Axes& given : timed_shapes(task, order.run->settings.judging.backend)) {
    const Result<Axes> axes = complete_axes(task, given);
    const Result<double> terms = axes ? task.reduction.evaluate(*axes) : Result<double>(0);
    if (terms && *terms > 0) {
      most_terms = std::max(most_terms, *terms);
      out.push_back(fmt::format("{:.2g}{}",
                                task.tolerance.rounding_factor * rounding_of_sum(type, *terms),
                                task.axes.empty() ? "" : " at " + shape_text(task, given)));
    }
  }
  if (out.empty()) {
    return "";
  }
  const std::string_view capped =
      counted_terms(most_terms) < most_terms ? " (K counts as 65536 at most)" : "";
  return fmt::format(" The second term is {}{}{}.", fmt::join(out, ", "), capped,
                     least_rounding(task, type, most_terms));
}

std::string precision_text(const AgentOrder& order) {
  const Task& task = order.run->task;
  std::set<std::string> allowed(task.tolerance.allow_precision.begin(),
                                task.tolerance.allow_precision.end());
  allowed.insert(order.run->settings.allow_precision.begin(),
                 order.run->settings.allow_precision.end());
  if (!allowed.empty()) {
    return fmt::format(" Errors of {} are accepted too.", fmt::join(allowed, ", "));
  }
  std::string out = " That bound is the only test of precision.";
  if (contract_type(task) == DType::f32 &&
      has_products(task, order.run->settings.judging.backend)) {
    out +=
        " Single products of tf32, f16 or bf16 usually miss it; operands split into two or three "
        "such parts, with the products of the parts summed in f32, pass where e stays within it.";
  }
  return out;
}

}  // namespace

std::string tolerance_text(const AgentOrder& order) {
  const Task& task = order.run->task;
  const DType type = contract_type(task);
  std::string out = fmt::format(
      "\nTolerance: e = max |x - r| / (|r| + rms(r)) against the reference r in double must be at "
      "most max({:g} e(baseline), {:g} {}) with u = {:.3g} ({}) and K = {}, the terms over which "
      "rounding adds up.",
      task.tolerance.baseline_factor, task.tolerance.rounding_factor,
      unit_roundoff(type) > unit_roundoff(DType::f32) ? "(u + 2^-24 sqrt(K))" : "u sqrt(K)",
      unit_roundoff(type), name_of(type), task.reduction.text());
  const auto is_whole = [](const TensorSpec& output) {
    return !is_floating(output.dtype) && output.selects.empty();
  };
  out += std::ranges::any_of(task.outputs, is_whole) ? " Whole numbers must be exact." : "";
  out += rounding_numbers(order, type) + precision_text(order);
  out += task.tolerance.deterministic ? " Repeats must agree bit by bit." : "";
  return out + "\n" + bounds_text(order);
}

}  // namespace kernelpro::agents
