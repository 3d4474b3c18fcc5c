#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/sort.hpp"
#include "coordinator/task/fit_shape.hpp"
#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {
namespace {

std::vector<std::string> names_in(const std::string& text) {
  const auto formula = Formula::parse(text);
  return formula.ok() ? formula->names() : std::vector<std::string>();
}

// Where something is taken off, nothing may be left at small sizes: of one column there is none to
// compare with the first.
std::string at_least_one(const std::string& formula) {
  return formula.find('-') == std::string::npos ? formula : fmt::format("max(1, {})", formula);
}

// The size that says how much lies between rows.
std::string room_of(const std::string& pitch) {
  return pitch + "_room";
}

// What stands before the distance of rows.
constexpr std::string_view rows_behind = " - 1)*";

// What is left between rows at the distance that the user times; 1: nothing, 0: less.
std::int64_t timed_room(const std::string& pitch, const std::string& row, const NewTask& request) {
  const auto said = request.sizes.find(pitch);
  if (said == request.sizes.end()) {
    return 1;
  }
  const auto formula = Formula::parse(row);
  const auto length =
      formula.ok() ? formula->evaluate_size(request.sizes) : Result<std::int64_t>(0);
  return length.ok() && *length > 0 ? std::max<std::int64_t>(0, said->second - *length + 1) : 0;
}

// Whether no rows overlapped at these sizes: elements written twice count once.
bool lies_apart(const Axes& axes, const NewTask& request) {
  return std::ranges::all_of(request.derived, [&](const auto& one) {
    Axes closest = axes;
    closest[room_of(one.first)] = 1;
    const auto formula = Formula::parse(one.second);
    const auto least = formula.ok() ? formula->evaluate_size(closest) : Result<std::int64_t>(0);
    const auto seen = axes.find(one.first);
    return seen == axes.end() || !least.ok() || seen->second >= *least ||
           !contains(request.more_axes, room_of(one.first));
  });
}

// Whether a size is nothing but a distance of rows in every shape that speaks of it.
bool is_distance(const std::string& axis, const NewTask& request) {
  std::vector<std::string> texts;
  for (const auto& [tensor, shape] : request.shapes) {
    texts.insert(texts.end(), shape.begin(), shape.end());
  }
  return std::ranges::all_of(texts, [&axis](std::string text) {
    const std::string part = std::string(rows_behind) + axis + " + ";
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) {
      text.replace(at, part.size(), ") + ");
    }
    return !contains(names_in(text), axis);
  });
}

}  // namespace

void settle_roles(const OwnCall& call, Learned& learned, const std::vector<Observation>& seen) {
  for (const Leaf& leaf : call.leaves) {
    const auto shape = learned.request.shapes.find(leaf.name);
    if (leaf.kind != Leaf::Kind::tensor || shape == learned.request.shapes.end() ||
        contains(learned.request.workspaces, leaf.name)) {
      continue;
    }
    bool stored = leaf.returned;
    bool kept = false;
    for (const Observation& one : seen) {
      const TouchedTensor& touched = one.result.tensors.at(leaf.name);
      const auto before = one.axes.find(leaf.name + "_size");
      const bool resized =
          touched.size >= 0 && before != one.axes.end() && before->second != touched.size;
      stored = stored || touched.stored > 0 || resized;
      const std::int64_t whole =
          elements(shape->second, one.axes, learned.request) / leaf.element.lanes;
      kept = kept || touched.fresh_read || (!resized && touched.least < whole);
    }
    if (!stored) {
      learned.only_read.push_back(leaf.name);
    } else if (kept && !leaf.returned && !contains(learned.request.inouts, leaf.name)) {
      learned.request.inouts.push_back(leaf.name);
    }
  }
}

namespace {

constexpr const char* single = "1";  // of rows that are a number each: "x[i * incx]"

// Rows that are only read may overlap, as windows of a signal do; of lines of a matrix that would
// be less than a call really reads.
void keep_side_by_side(const std::string& tensor, const std::string& pitch, const std::string& row,
                       Learned& learned) {
  if (learned.request.sizes.contains(pitch) || learned.request.derived.contains(pitch)) {
    return;
  }
  std::string& longest = learned.side_by_side[pitch];
  longest = longest.empty() || longest == row ? row : fmt::format("max({}, {})", longest, row);
  learned.notes.push_back(fmt::format(
      "{0} of {1} are timed side by side, {2}={3}, and checked {4} too (--size {2}=…, --held-out "
      "{2}=LOW:HIGH say otherwise)",
      row == single ? "numbers" : "rows", tensor, pitch, row,
      row == single ? "apart" : "where they overlap"));
}

// Whether it worked with rows that are longer than their distance.
bool may_overlap(const std::string& pitch, const std::string& row, const NewTask& request,
                 const std::vector<Observation>& seen) {
  const auto length = Formula::parse(row);
  constexpr std::size_t enough = 6;  // for that to be no chance
  return seen.size() < enough ||
         std::ranges::any_of(
             seen,
             [&](const Observation& one) {
               const Axes axes = completed(one.axes, request);
               const auto longest =
                   length.ok() ? length->evaluate_size(axes) : Result<std::int64_t>(0);
               const auto distance = axes.find(pitch);
               return distance == axes.end() || !longest.ok() || distance->second < *longest;
             });
}

}  // namespace

void keep_rows_apart(Learned& learned, const std::vector<Observation>& seen,
                     std::vector<std::string>& axes, Axes& base) {
  NewTask& request = learned.request;
  std::vector<std::pair<std::string, std::vector<std::string>>> written_first(
      request.shapes.begin(), request.shapes.end());
  const auto is_only_read = [&learned](const auto& one) {
    return contains(learned.only_read, one.first);
  };
  sort_keeping_ties(written_first, [&is_only_read](const auto& a, const auto& b) {
    return !is_only_read(a) && is_only_read(b);
  });
  for (const auto& [tensor, shape] : written_first) {
    if (contains(request.workspaces, tensor)) {
      continue;
    }
    const bool only_read = contains(learned.only_read, tensor);
    // The innermost rows first: those of a volume lie in slices that lie apart as well.
    std::string text = shape[0];
    for (std::size_t at = text.rfind(rows_behind); at != std::string::npos && at > 0;
         at = text.rfind(rows_behind, at - 1)) {
      const std::size_t name = at + rows_behind.size();
      const std::size_t end = text.find(" + ", name);
      const std::string pitch = text.substr(name, std::min(end, text.size()) - name);
      const std::string row = end == std::string::npos ? "" : text.substr(end + 3);
      if (!contains(axes, pitch) || !is_distance(pitch, request) ||
          (names_in(row).empty() && row != single) || contains(names_in(row), pitch) ||
          request.held_out.contains(pitch)) {
        continue;
      }
      if (row == single || (only_read && may_overlap(pitch, row, learned.request, seen))) {
        keep_side_by_side(tensor, pitch, row, learned);
        continue;
      }
      const std::string room = room_of(pitch);
      const std::int64_t timed = timed_room(pitch, row, request);
      if (timed < 1) {
        continue;
      }
      // What lies between rows stays as it is, also where they overlapped at all sizes tried.
      if (!only_read && !contains(request.inouts, tensor)) {
        request.inouts.push_back(tensor);
      }
      const std::string length = fmt::format("{} + {} - 1", row, room);
      request.derived[pitch] = length;
      request.more_axes.push_back(room);
      request.sizes.erase(pitch);
      request.sizes[room] = timed;
      request.held_out[room] = {1, 8, 1};
      std::ranges::replace(axes, pitch, room);
      base[room] = 4;
      learned.notes.push_back(
          fmt::format("rows of {0} do not overlap: {1} is {2} (--fix {1}=… says otherwise)", tensor,
                      pitch, length));
      text.replace(name, pitch.size(), "(" + length + ")");
    }
  }
  base = completed(base, request);
}

void settle_reduction(const OwnFunction& function, const OwnCall& call, Learned& learned,
                      const std::vector<Observation>& seen, const std::vector<std::string>& axes) {
  if (!learned.request.reduction.empty()) {
    return;
  }
  std::int64_t longest = 1;
  std::string text = "1";
  for (const Leaf& leaf : call.leaves) {
    if (leaf.kind != Leaf::Kind::tensor || leaf.returned) {
      continue;
    }
    std::vector<Reach> ratios;
    std::int64_t sum = 0;
    for (const Observation& one : seen) {
      if (!lies_apart(one.axes, learned.request)) {
        continue;
      }
      std::int64_t results = 1;
      for (const auto& [name, touched] : one.result.tensors) {
        results = std::max({results, touched.written, touched.size});
      }
      ratios.push_back(
          {only(one.axes, axes),
           std::max<std::int64_t>(1, one.result.tensors.at(leaf.name).loads / results)});
      sum += ratios.back().elements;
    }
    if (sum <= longest) {
      continue;
    }
    longest = sum;
    auto fitted = fit_shape(ratios);
    if (!fitted && learned.request.shapes.contains(leaf.name)) {
      fitted = learned.request.shapes.at(leaf.name);
    }
    text = fitted ? at_least_one(fmt::format("({})", fmt::join(*fitted, ")*("))) : "1";
  }
  if (function.accumulates && names_in(text).empty()) {
    for (const std::string& axis : axes) {
      if (is_used(axis, learned.request)) {
        text = fmt::format("max({}, {})", text, axis);
      }
    }
  }
  const auto names = names_in(text);
  const bool known = std::ranges::all_of(names, [&](const std::string& name) {
    return contains(axes, name) || learned.request.derived.contains(name);
  });
  learned.request.reduction = known ? text : "1";
}

Status settle_values(const Probe& probe, const OwnCall& call, Learned& learned,
                     const WholeNumbers& numbers, const Axes& base, std::stop_token stop) {
  numbers.describe(learned.request, call, learned.only_read);
  TrialCall around = numbers.trial(base);
  std::vector<std::string> read;
  for (const Leaf& leaf : call.leaves) {
    if (leaf.kind == Leaf::Kind::tensor && is_floating(leaf.element.dtype)) {
      around.filling[leaf.name] = {Filling::Kind::around_zero, 0};
      if (contains(learned.only_read, leaf.name) || contains(learned.request.inouts, leaf.name)) {
        read.push_back(leaf.name);
      }
    }
  }
  KP_LET(const auto results, probe.run({numbers.trial(base), around}, stop));
  const auto finite = [](const TrialResult& result) {
    return result.returned && is_finite(result);
  };
  if (!finite(results[0]) || finite(results[1])) {
    return {};
  }
  // Those that alone make it so, if the others do no harm together; else all.
  std::vector<std::string> harmful;
  TrialCall others = around;
  for (const std::string& name : read) {
    TrialCall alone = numbers.trial(base);
    alone.filling[name] = around.filling[name];
    KP_LET(const auto result, probe.run({alone}, stop));
    if (!finite(result[0])) {
      harmful.push_back(name);
      others.filling.erase(name);
    }
  }
  KP_LET(const auto result, probe.run({others}, std::move(stop)));
  harmful = harmful.empty() || !finite(result[0]) ? read : harmful;
  for (const std::string& name : harmful) {
    learned.request.values.emplace(name, "uniform:0.5:1.5");
  }
  learned.notes.push_back(
      fmt::format("with numbers around 0 in {0} its results are not finite; they are drawn from "
                  "0.5 to 1.5 (--values {1}=uniform:LOW:HIGH says otherwise)",
                  fmt::join(harmful, ", "), harmful.empty() ? "x" : harmful[0]));
  return {};
}

}  // namespace kernelpro::learn
