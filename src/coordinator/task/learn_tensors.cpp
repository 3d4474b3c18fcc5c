#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/task/fit_shape.hpp"
#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {
namespace {

std::vector<std::string> names_in(const std::string& text) {
  const auto formula = Formula::parse(text);
  return formula.ok() ? formula->names() : std::vector<std::string>();
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
      kept = kept || touched.fresh_read || (!resized && touched.written < whole);
    }
    if (!stored) {
      learned.only_read.push_back(leaf.name);
    } else if (kept && !leaf.returned && !contains(learned.request.inouts, leaf.name)) {
      learned.request.inouts.push_back(leaf.name);
    }
  }
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
    text = fitted ? fmt::format("({})", fmt::join(*fitted, ")*(")) : "1";
  }
  if (function.accumulates && names_in(text).empty()) {
    for (const std::string& axis : axes) {
      if (is_used(axis, learned.request)) {
        text = fmt::format("max({}, {})", text, axis);
      }
    }
  }
  const auto names = names_in(text);
  const bool known =
      std::ranges::all_of(names, [&](const std::string& name) { return contains(axes, name); });
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
    return result.returned &&
           std::ranges::all_of(result.tensors, [](const auto& one) { return one.second.finite; });
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
