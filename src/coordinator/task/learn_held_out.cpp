// At which sizes a function is checked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

#include "coordinator/task/axis_kinds.hpp"

namespace kernelpro::learn {
namespace {

// Whether the function returns at these sizes and stays within its shapes.
Result<bool> works(const Probe& probe, const OwnCall& call, const NewTask& request,
                   const WholeNumbers& numbers, const Axes& axes, std::stop_token stop) {
  TrialCall trial = numbers.trial(completed(axes, request));
  for (const auto& [name, index] : numbers.indices) {
    trial.filling[name] = {Filling::Kind::constant, 0};
  }
  KP_LET(const auto results, probe.run({trial}, std::move(stop)));
  if (!results[0].returned) {
    return false;
  }
  for (const Leaf& leaf : call.leaves) {
    const auto shape = request.shapes.find(leaf.name);
    if (leaf.kind != Leaf::Kind::tensor || shape == request.shapes.end()) {
      continue;
    }
    const TouchedTensor& touched = results[0].tensors.at(leaf.name);
    const std::int64_t most = elements(shape->second, axes, request) / leaf.element.lanes;
    if (most < 1 || touched.reach() > most || (touched.size >= 0 && touched.size > most)) {
      return false;
    }
  }
  return true;
}

std::int64_t highest(AxisKind kind, std::int64_t extents, bool gpu) {
  constexpr std::array<std::int64_t, 4> by_extents = {600, 64, 24, 12};
  // More than one block.
  constexpr std::array<std::int64_t, 4> on_gpu = {100'000, 1000, 100, 32};
  switch (kind) {
    case AxisKind::extent:
      return (
          gpu ? on_gpu
              : by_extents)[static_cast<std::size_t>(std::clamp<std::int64_t>(extents, 1, 4) - 1)];
    case AxisKind::drawn:
      return std::numeric_limits<std::int64_t>::max();  // as many as there are
    case AxisKind::small:
      return small_size;
    case AxisKind::bound:
      return 200;
    default:
      return 6;
  }
}

// Not more than a tensor of some hundred thousand numbers.
Axes highest_sizes(const AxisKinds& kinds, const OwnCall& call, const NewTask& request) {
  const std::int64_t most = is_for_gpu(request) ? 1 << 20 : 1 << 17;
  Axes highs;
  for (const auto& [name, kind] : kinds.all()) {
    highs[name] = kinds.capped(name, highest(kind, kinds.extents(), is_for_gpu(request)));
  }
  for (int round = 0; round < 32; ++round) {
    const bool fits = std::ranges::all_of(call.leaves, [&](const Leaf& leaf) {
      const auto shape = request.shapes.find(leaf.name);
      return shape == request.shapes.end() || elements(shape->second, highs, request) <= most;
    });
    if (fits) {
      break;
    }
    for (auto& [name, size] : highs) {
      if (kinds.all().at(name) == AxisKind::extent) {
        size = std::max<std::int64_t>(8, size * 3 / 4);
      }
    }
  }
  return highs;
}

std::int64_t lowest(AxisKind kind, const WholeNumbers& numbers) {
  if (kind == AxisKind::bound) {
    return numbers.offsets.empty() ? 5 : 32;
  }
  return 1;
}

// The least size of `name` at which the function still does its work, the others as in `base`.
Result<std::int64_t> least_size(const std::string& name, const Axes& base, const Learned& learned,
                                const std::function<Result<bool>(const Axes&)>& fine_at) {
  for (const std::int64_t size : {6, 5, 4, 3, 2, 1}) {
    const Axes axes = with_size(base, name, size, learned);
    KP_LET(const bool fine, fine_at(axes));
    if (!fine) {
      return size + 1;
    }
  }
  return 1;
}

void note_ranges(Learned& learned) {
  std::vector<std::string> ranges;
  ranges.reserve(learned.request.held_out.size());
  for (const auto& [name, range] : learned.request.held_out) {
    ranges.push_back(fmt::format("{}={}:{}{}", name, range.low, range.high,
                                 range.step > 1 ? fmt::format(":{}", range.step) : ""));
  }
  if (!ranges.empty()) {
    learned.notes.push_back(fmt::format("checked at sizes from {} (--held-out says otherwise)",
                                        fmt::join(ranges, " ")));
  }
}

}  // namespace

Status settle_held_out(const Probe& probe, const OwnCall& call, Learned& learned,
                       const WholeNumbers& numbers, const std::vector<std::string>& small,
                       std::stop_token stop) {
  const NewTask& request = learned.request;
  const AxisKinds kinds(call, learned, numbers, small);
  constexpr std::int64_t middle = 11;
  Axes lows;
  Axes base;
  for (const auto& [name, kind] : kinds.all()) {
    const auto said = request.held_out.find(name);
    lows[name] = said != request.held_out.end() ? said->second.low : lowest(kind, numbers);
    base[name] = allowed(learned, name, kinds.size(name, middle));
    if (said != request.held_out.end()) {
      base[name] = std::min(base[name], said->second.at_most(said->second.high));
    }
  }
  put_in_order(base, learned);
  const auto fine_at = [&](const Axes& axes) {
    return works(probe, call, request, numbers, axes, stop);
  };
  const auto given = request.held_out;
  const auto is_given = [&given](const std::string& name) { return given.contains(name); };
  for (const auto& [name, kind] : kinds.all()) {
    if (is_given(name) || kind == AxisKind::drawn || kind == AxisKind::bound) {
      continue;
    }
    const auto bound = learned.bounds.find(name);
    const bool stated =
        bound != learned.bounds.end() && (bound->second.low > 1 || bound->second.step > 1);
    KP_LET(lows[name], stated ? Result<std::int64_t>(bound->second.low)
                              : least_size(name, base, learned, fine_at));
  }
  put_in_order(lows, learned);
  // All at their lowest at once: then raised together until it works.
  for (int round = 0; round < 5; ++round) {
    Axes axes = lows;
    for (auto& [name, size] : axes) {
      size = contains(small, name) ? allowed(learned, name, small_size) : size;
    }
    put_in_order(axes, learned);
    KP_LET(const bool fine, fine_at(axes));
    if (fine) {
      break;
    }
    for (auto& [name, size] : lows) {
      const AxisKind kind = kinds.all().at(name);
      const bool open =
          kind == AxisKind::extent && !is_given(name) && !learned.bounds.contains(name);
      size += open ? 2 : 0;
    }
  }
  Axes highs = highest_sizes(kinds, call, request);
  for (const auto& [name, kind] : kinds.all()) {
    const bool stated = learned.bounds.contains(name);
    AxisRange range{lows[name], std::max(highs[name], lows[name])};
    if (stated) {
      const AxisRange& bound = learned.bounds.at(name);
      range = {lows[name], std::min(std::max(range.high, 2 * lows[name]), bound.high), bound.step};
      range.high = range.at_most(range.high);
    }
    learned.request.held_out.emplace(name, range);
    if (lows[name] > 1 && kind == AxisKind::extent && !is_given(name) && !stated) {
      learned.notes.push_back(
          fmt::format("below {}={} it fails or leaves its tensors; such sizes "
                      "are not judged (--held-out {}=LOW:HIGH)",
                      name, lows[name], name));
    }
  }
  keep_ranges_apart(learned, is_given);
  note_ranges(learned);
  return {};
}

}  // namespace kernelpro::learn
