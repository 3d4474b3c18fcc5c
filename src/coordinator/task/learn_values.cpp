// Whole numbers by value that are no size: they touch the same memory, whatever they are.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/task/axis_kinds.hpp"
#include "coordinator/task/function_body.hpp"

namespace kernelpro::learn {
namespace {

constexpr std::int64_t milli_ns = 1'000'000;
constexpr std::int64_t most_steps = 128;  // of a loop that a number bounds, where it is checked
constexpr std::int64_t most_timed_steps = 64;  // the same where it is timed
constexpr std::int64_t usual_high = 6;         // of numbers of which nothing more is known

// The numbers that the parameter's type tells apart, as far as formulas are exact.
AxisRange type_range(const Leaf& leaf) {
  const bool is_unsigned = leaf.element.is_unsigned || leaf.element.dtype == DType::u8;
  int bits = static_cast<int>(size_of(leaf.element.dtype)) * 8;
  bits = std::min(bits, 48);
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return is_unsigned ? AxisRange{0, 2 * half - 1, 1} : AxisRange{-half, half - 1, 1};
}

// By place from 1 on: from 0 upwards, or 0, 1, -1, 2, -2 and so on.
std::string drawn_formula(const std::string& axis, const AxisRange& range) {
  if (range.low >= 0) {
    return fmt::format("{} - 1", axis);
  }
  return fmt::format("{0}/2*(1 - 2*({0} - {0}/2*2))", axis);
}

std::int64_t place_of_number(std::int64_t number, const AxisRange& range) {
  return range.low >= 0 ? number + 1 : 2 * number;
}

bool reaches_the_same(const TrialResult& one, const TrialResult& other) {
  return std::ranges::equal(one.tensors, other.tensors, [](const auto& a, const auto& b) {
    return a.second.reach() == b.second.reach() && a.second.size == b.second.size &&
           a.second.stored == b.second.stored;
  });
}

// Whether with each of these numbers it returns, and touches what it touches with the usual one.
Result<bool> touch_the_same(const Probe& probe, const Settling& at, const std::string& name,
                            const std::vector<std::int64_t>& numbers, const std::stop_token& stop) {
  std::vector<TrialCall> calls = at.numbers.trials(at.base);
  const std::size_t each = calls.size();
  for (const std::int64_t number : numbers) {
    Axes axes = at.base;
    axes[name] = number;
    const auto more = at.numbers.trials(axes);
    calls.insert(calls.end(), more.begin(), more.end());
  }
  KP_LET(const auto results, probe.run(calls, stop));
  for (std::size_t i = each; i < results.size(); ++i) {
    const TrialResult& usual = results[i % each];
    if (usual.returned && (!results[i].returned || !reaches_the_same(usual, results[i]))) {
      return false;
    }
  }
  return true;
}

// The widest range of which it takes all numbers: those of the type, or fewer. Nothing where it
// takes none but a few.
Result<std::optional<AxisRange>> range_of_numbers(const Probe& probe, const Settling& at,
                                                  const Leaf& leaf, const std::stop_token& stop) {
  const AxisRange type = type_range(leaf);
  const auto same = [&](const std::vector<std::int64_t>& numbers) {
    return touch_the_same(probe, at, leaf.name, numbers, stop);
  };
  KP_LET(const bool small, same({0, 1, 2, 3, 5, 17}));
  for (const std::int64_t most : {type.high, std::int64_t{1000}, std::int64_t{100}}) {
    const std::int64_t high = std::min(most, type.high);
    KP_LET(const bool upwards, small ? same({high, high - 1, high / 2}) : Result<bool>(false));
    if (!upwards) {
      continue;
    }
    KP_LET(const bool both, type.low < 0 ? same({-high, -1, -high / 2}) : Result<bool>(false));
    return std::optional(AxisRange{both ? -high : 0, high, 1});
  }
  return std::optional<AxisRange>();
}

void draw_from(const std::string& name, const AxisRange& range, Settling& at) {
  const std::string axis = name + "_draw";
  const std::int64_t timed = std::min(parameter_size, range.high);
  NewTask& request = at.learned.request;
  request.fixed[name] = drawn_formula(axis, range);
  request.more_axes.push_back(axis);
  const std::int64_t places = range.low >= 0 ? range.high + 1 : 2 * range.high + 1;
  at.learned.drawn[axis] = {places, place_of_number(timed, range)};
  at.base[axis] = at.learned.drawn[axis].timed;
  std::ranges::replace(at.axes, name, axis);
  at.learned.notes.push_back(fmt::format(
      "{0} is a number and no size (whatever it is, the same memory is touched): it is drawn from "
      "{1} to {2}, and {3} is timed (--fix {0}=… or --size {0}=… says otherwise)",
      name, range.low, range.high, timed));
}

// The highest of the doubled numbers up to `most` at which a call takes no longer; 0: of none.
Result<std::int64_t> highest_within(const Probe& timing, const std::string& name, TrialCall trial,
                                    std::int64_t lowest, std::int64_t most, std::int64_t longest_ns,
                                    const std::stop_token& stop) {
  std::int64_t best = 0;
  for (std::int64_t number = lowest; number <= most; number *= 2) {
    trial.axes[name] = number;
    KP_LET(const auto results, timing.run({trial}, stop));
    if (!results[0].returned || results[0].nanoseconds > longest_ns) {
      break;
    }
    best = number;
  }
  return best;
}

// Whole numbers by value of which nothing is known but that they matter.
std::vector<const Leaf*> open_numbers(const Asked& asked, const Settling& at) {
  const AxisKinds kinds(asked.call, at.learned, at.numbers,
                        subtracted_axes(at.learned.request, at.axes));
  std::vector<const Leaf*> out;
  for (const Leaf& leaf : asked.call.leaves) {
    const auto kind = kinds.all().find(leaf.name);
    const bool said = asked.said.sizes.contains(leaf.name) ||
                      asked.said.held_out.contains(leaf.name) ||
                      at.learned.bounds.contains(leaf.name);
    const bool ordered = std::ranges::any_of(at.learned.at_least, [&leaf](const SizeOrder& order) {
      return order.axis == leaf.name || order.least == leaf.name;
    });
    if (leaf.kind == Leaf::Kind::axis && leaf.size_of.empty() && contains(at.axes, leaf.name) &&
        kind != kinds.all().end() && kind->second == AxisKind::parameter && !said && !ordered) {
      out.push_back(&leaf);
    }
  }
  return out;
}

// What may say how often something is done: as often as a call stays short.
Status settle_steps(const Probe& probe, const Probe& timing, const Asked& asked,
                    const std::string& name, std::int64_t most_timed, Settling& at,
                    const std::stop_token& stop) {
  const AxisKinds kinds(asked.call, at.learned, at.numbers,
                        subtracted_axes(at.learned.request, at.axes));
  const auto highest_at = [&](std::int64_t extent, std::int64_t lowest, std::int64_t most,
                              std::int64_t longest_ns) {
    const Axes axes = timed_sizes(extent, kinds, asked.call, at.learned);
    return highest_within(timing, name,
                          timed_trial(axes, asked.call, at.learned.request, at.numbers), lowest,
                          most, longest_ns, stop);
  };
  constexpr std::int64_t checked_extent = 24;
  constexpr std::int64_t timed_extent = 64;
  KP_LET(std::int64_t high, highest_at(checked_extent, 8, most_steps, 5 * milli_ns));
  KP_LET(const std::int64_t steps, highest_at(timed_extent, parameter_size, most_timed, milli_ns));
  KP_LET(const bool same, touch_the_same(probe, at, name, {1, 2, high / 2, high}, stop));
  high = same ? std::max(high, usual_high) : usual_high;
  const std::int64_t timed = std::clamp(steps, parameter_size, high);
  at.learned.drawn[name] = {high, timed};
  at.learned.notes.push_back(fmt::format(
      "{0} is a number and no size (whatever it is, the same memory is touched): 1 to {1} are "
      "checked, and {2} is timed (--held-out {0}=LOW:HIGH and --size {0}=… say otherwise)",
      name, high, timed));
  return {};
}

}  // namespace

Status settle_numbers_by_value(const Probe& probe, const std::function<Result<Probe>()>& timing,
                               const Asked& asked, const std::string& source, Settling at,
                               std::stop_token stop) {
  for (const Leaf* leaf : open_numbers(asked, at)) {
    const LoopRole part = role_in_loops(source, asked.source.function,
                                        leaf->field.empty() ? leaf->name : leaf->field);
    if (part != LoopRole::none) {
      KP_LET(const Probe built, timing());
      const std::int64_t most = part == LoopRole::bound ? most_timed_steps : parameter_size;
      KP_TRY(settle_steps(probe, built, asked, leaf->name, most, at, stop));
      continue;
    }
    KP_LET(const auto range, range_of_numbers(probe, at, *leaf, stop));
    if (range) {
      draw_from(leaf->name, *range, at);
    }
  }
  return {};
}

}  // namespace kernelpro::learn
