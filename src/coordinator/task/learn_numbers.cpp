// What whole numbers in tensors mean, by what other tensors are touched for them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordinator/task/fit_shape.hpp"
#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {
namespace {

constexpr double trial_index = 4;
constexpr double trial_ramp = 2;

bool is_whole(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::tensor && !leaf.returned && !is_floating(leaf.element.dtype) &&
         leaf.element.lanes == 1;
}

// Larger than any extent at the sizes of trials, where the type allows that.
double far_index(const Leaf& leaf) {
  switch (leaf.element.dtype) {
    case DType::i8:
      return 100;
    case DType::u8:
      return 200;
    default:
      return 30'000;
  }
}

class NumberFinder {
 public:
  NumberFinder(const Probe& probe, const OwnCall& call, const Axes& base, const NewTask& request,
               const std::vector<std::string>& axes, std::stop_token stop)
      : probe_(probe),
        call_(call),
        base_(base),
        request_(request),
        axes_(axes),
        stop_(std::move(stop)) {}

  Result<WholeNumbers> run() {
    // Offsets first: without them nothing of what they count is touched.
    for (const Leaf& leaf : call_.leaves) {
      if (is_whole(leaf) && out_.offsets.empty()) {
        KP_TRY(try_offsets(leaf));
      }
    }
    for (const Leaf& leaf : call_.leaves) {
      if (is_whole(leaf) && leaf.name != out_.offsets) {
        KP_TRY(try_index(leaf));
      }
    }
    KP_TRY(name_axes());
    return std::move(out_);
  }

 private:
  Result<std::vector<TrialResult>> with(const Leaf& leaf, const std::vector<Filling>& fillings) {
    std::vector<TrialCall> calls;
    for (const Filling& filling : fillings) {
      calls.push_back(out_.trial(base_));
      calls.back().filling[leaf.name] = filling;
    }
    return probe_.run(calls, stop_);
  }

  static std::int64_t reach(const TrialResult& result, const std::string& tensor) {
    const auto found = result.tensors.find(tensor);
    return found == result.tensors.end() ? 0 : found->second.reach();
  }

  Status try_offsets(const Leaf& leaf) {
    KP_LET(const auto results, with(leaf, {{Filling::Kind::constant, 0},
                                           {Filling::Kind::constant, 3},
                                           {Filling::Kind::ramp, 1},
                                           {Filling::Kind::ramp, trial_ramp}}));
    if (!results[0].returned || !results[2].returned || !results[3].returned ||
        results[0].tensors.at(leaf.name).loaded == 0) {
      return {};
    }
    bool counts = false;
    for (const auto& [name, touched] : results[0].tensors) {
      const std::int64_t still = reach(results[1], name);
      const std::int64_t rows = results[2].tensors.at(leaf.name).reach() - 1;
      counts = counts || (name != leaf.name && still == touched.reach() && rows > 0 &&
                          reach(results[2], name) == rows && reach(results[3], name) == 2 * rows &&
                          touched.reach() < rows);
    }
    if (counts) {
      out_.offsets = leaf.name;
      out_.entries = "nnz";
    }
    return {};
  }

  Status try_index(const Leaf& leaf) {
    const double far = far_index(leaf);
    KP_LET(const auto results, with(leaf, {{Filling::Kind::constant, 0},
                                           {Filling::Kind::constant, trial_index},
                                           {Filling::Kind::constant, far}}));
    if (!results[0].returned || results[0].tensors.at(leaf.name).loaded == 0) {
      return {};
    }
    for (const auto& [name, touched] : results[0].tensors) {
      if (name == leaf.name) {
        continue;
      }
      const bool near = results[1].returned && reach(results[1], name) > touched.reach();
      const bool beyond = results[2].returned && reach(results[2], name) > touched.reach();
      if (near || beyond) {
        out_.indices[leaf.name] = {"", name, near};
        return {};
      }
    }
    if (!results[2].returned && results[1].returned) {
      // A place so far away that it is nobody's memory; the tensor that is looked up is unknown.
      out_.indices[leaf.name] = {"", "", false};
    }
    return {};
  }

  // Axes of the function that change nothing at all say how far indices and offsets go.
  Status name_axes() {
    std::vector<std::string> idle;
    const bool wanted = !out_.offsets.empty() || !out_.indices.empty();
    for (const std::string& axis : wanted ? axes_ : std::vector<std::string>()) {
      Axes changed = base_;
      changed[axis] += 2;
      KP_LET(const auto results,
             probe_.run({out_.trial(base_), out_.trial(completed(changed, request_))}, stop_));
      bool same = results[0].returned && results[1].returned;
      for (const auto& [name, touched] : results[0].tensors) {
        same = same && touched.hash == results[1].tensors.at(name).hash &&
               touched.reach() == reach(results[1], name);
      }
      if (same) {
        idle.push_back(axis);
      }
    }
    const auto counts = [](const std::string& name) {
      return name.find("nnz") != std::string::npos || name.find("nonzero") != std::string::npos ||
             name.find("entries") != std::string::npos;
    };
    std::ranges::sort(idle, {},
                      [&](const std::string& name) { return std::pair(counts(name), name); });
    std::map<std::string, std::string> bounds;
    for (auto& [name, index] : out_.indices) {
      if (!index.free) {
        continue;
      }
      auto [known, fresh] = bounds.emplace(index.target, "");
      const auto leaf = std::ranges::find(call_.leaves, name, &Leaf::name);
      if (fresh && leaf->element.dtype == DType::u8) {
        known->second = "256";  // a table for every byte
      } else if (fresh && !idle.empty() && (!counts(idle.front()) || out_.offsets.empty())) {
        known->second = idle.front();
        idle.erase(idle.begin());
      } else if (fresh) {
        known->second = index.target + "_rows";
        out_.more_axes.push_back(known->second);
      }
      index.bound = known->second;
    }
    if (!out_.offsets.empty() && !idle.empty()) {
      out_.entries = idle.back();
    }
    return {};
  }

  const Probe& probe_;
  const OwnCall& call_;
  const Axes& base_;
  const NewTask& request_;
  const std::vector<std::string>& axes_;
  std::stop_token stop_;
  WholeNumbers out_;
};

// "rows" of "rows + 1".
std::string one_less(const std::string& extent) {
  constexpr std::string_view plus = " + 1";
  return extent.ends_with(plus) ? extent.substr(0, extent.size() - plus.size())
                                : "(" + extent + " - 1)";
}

std::string plain_range(const Leaf& leaf) {
  switch (leaf.element.dtype) {
    case DType::u8:
      return "uniform:0:256";
    case DType::i8:
      return "uniform:-128:128";
    case DType::i16:
      return leaf.element.is_unsigned ? "uniform:0:32767" : "uniform:-32768:32767";
    default:
      return leaf.element.is_unsigned ? "uniform:0:1000" : "uniform:-1000:1000";
  }
}

}  // namespace

TrialCall WholeNumbers::trial(const Axes& axes) const {
  TrialCall call{axes, {}, {}, 0};
  for (const auto& [name, index] : indices) {
    call.filling[name] = {Filling::Kind::constant, trial_index};
  }
  if (!offsets.empty()) {
    call.filling[offsets] = {Filling::Kind::ramp, trial_ramp};
  }
  return call;
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
  const auto index = std::ranges::find_if(
      indices, [&](const auto& one) { return one.second.free && one.second.target == tensor; });
  if (index == indices.end()) {
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
  std::vector<std::string> shape = {index->second.bound};
  if (*width != std::vector<std::string>{"1"}) {
    shape.insert(shape.end(), width->begin(), width->end());
  }
  return shape;
}

void WholeNumbers::describe(NewTask& request, const OwnCall& call,
                            const std::vector<std::string>& only_read) const {
  request.more_axes = more_axes;
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
    const auto index = indices.find(leaf.name);
    std::string bound = index == indices.end() ? "" : index->second.bound;
    if (index != indices.end() && bound.empty() && request.shapes.contains(index->second.target)) {
      bound = request.shapes.at(index->second.target)[0];
    }
    if (bound.empty()) {
      request.values[leaf.name] = plain_range(leaf);
    } else if (!offsets.empty() && request.shapes.at(leaf.name) == std::vector{entries}) {
      request.values[leaf.name] = fmt::format("csr_columns:{}:{}", bound, offsets);
    } else {
      request.values[leaf.name] = "index:" + bound;
    }
  }
}

Result<WholeNumbers> find_whole_numbers(const Probe& probe, const OwnCall& call, const Axes& base,
                                        const NewTask& request,
                                        const std::vector<std::string>& axes,
                                        std::stop_token stop) {
  return NumberFinder(probe, call, base, request, axes, std::move(stop)).run();
}

}  // namespace kernelpro::learn
