// At which sizes a function is timed.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "coordinator/task/axis_kinds.hpp"

namespace kernelpro::learn {
namespace {

// How much one timed call has to do, measured on a processor.
struct Enough {
  std::int64_t nanoseconds;
  std::int64_t too_long;
  std::int64_t bytes;
};

// A GPU needs more to do, and more than its caches hold.
Enough enough_for(const NewTask& request) {
  constexpr std::int64_t milli = 1'000'000;
  return is_for_gpu(request) ? Enough{200 * milli, 600 * milli, 256LL << 20}
                             : Enough{milli, 20 * milli, 48LL << 20};
}

// Extents of what is written alone, beside tensors that are read. As large as theirs, a function
// that resizes would copy.
std::vector<std::string> written_extents(const OwnCall& call, const Learned& learned) {
  std::vector<std::string> of_read;
  std::vector<std::string> of_written;
  for (const Leaf& leaf : call.leaves) {
    const auto shape = learned.request.shapes.find(leaf.name);
    if (leaf.kind == Leaf::Kind::tensor && shape != learned.request.shapes.end()) {
      const bool written =
          !contains(learned.only_read, leaf.name) && !contains(learned.request.inouts, leaf.name);
      std::vector<std::string>& to = written ? of_written : of_read;
      to.insert(to.end(), shape->second.begin(), shape->second.end());
    }
  }
  std::erase_if(of_written, [&of_read](const std::string& extent) {
    return of_read.empty() || std::ranges::any_of(of_read, [&extent](const std::string& other) {
             return other.find(extent) != std::string::npos;
           });
  });
  return of_written;
}

// With extents of that length, as far as the user has not said others.
Axes sizes_at(std::int64_t extent, const AxisKinds& kinds, const Learned& learned,
              const std::vector<std::string>& smaller) {
  const NewTask& request = learned.request;
  Axes axes;
  for (const auto& [name, kind] : kinds.all()) {
    const auto given = request.sizes.find(name);
    const bool less = kind == AxisKind::extent && contains(smaller, name);
    const std::int64_t size = kinds.size(name, less ? extent * 3 / 4 : extent);
    axes[name] = given != request.sizes.end() ? given->second : allowed(learned, name, size);
  }
  for (const auto& [distance, row] : learned.side_by_side) {
    if (axes.contains(distance) && !request.sizes.contains(distance)) {
      axes[distance] = std::max<std::int64_t>(1, elements({row}, axes, request));
    }
  }
  return in_said_order(std::move(axes), learned);
}

}  // namespace

Axes timed_sizes(std::int64_t extent, const AxisKinds& kinds, const OwnCall& call,
                 const Learned& learned) {
  return sizes_at(extent, kinds, learned, written_extents(call, learned));
}

TrialCall timed_trial(const Axes& axes, const OwnCall& call, const NewTask& request,
                      const WholeNumbers& numbers) {
  TrialCall trial = numbers.trial(completed(axes, request));
  trial.repeats = 2;
  for (const Leaf& leaf : call.leaves) {
    if (leaf.kind == Leaf::Kind::tensor) {
      trial.filled[leaf.name] = elements(request.shapes.at(leaf.name), axes, request);
    }
  }
  for (const auto& [name, index] : numbers.indices) {
    const std::int64_t bound = elements({index.bound.empty() ? "1" : index.bound}, axes, request);
    trial.filling[name] = {Filling::Kind::below, static_cast<double>(bound)};
  }
  if (!numbers.offsets.empty()) {
    trial.filling[numbers.offsets] = {Filling::Kind::ramp, 8};
  }
  return trial;
}

Status settle_sizes(const std::function<Result<Probe>()>& timing, const OwnCall& call,
                    Learned& learned, const WholeNumbers& numbers,
                    const std::vector<std::string>& small, std::stop_token stop) {
  NewTask& request = learned.request;
  const AxisKinds kinds(call, learned, numbers, small);
  const bool open = std::ranges::any_of(
      kinds.all(), [&](const auto& one) { return !request.sizes.contains(one.first); });
  if (!open) {
    return {};
  }
  KP_LET(const Probe probe, timing());
  // The longer a sum in single precision, the less its one result tells a wrong answer from
  // rounding.
  const bool one_result = std::ranges::all_of(call.leaves, [&](const Leaf& leaf) {
    return leaf.kind != Leaf::Kind::tensor || contains(learned.only_read, leaf.name) ||
           (leaf.fixed_count > 0 && leaf.element.dtype == DType::f32);
  });
  const std::int64_t most = one_result ? 1 << 15 : 1 << 25;
  const Enough enough = enough_for(request);
  const std::vector<std::string> smaller = written_extents(call, learned);
  Axes best;
  std::int64_t took = 0;
  bool within = false;  // what the user wants checked
  for (std::int64_t extent = 16; extent <= most; extent *= 2) {
    Axes axes = sizes_at(extent, kinds, learned, smaller);
    for (const auto& [name, range] :
         within ? learned.made_for : std::map<std::string, AxisRange>()) {
      if (!request.sizes.contains(name)) {
        axes[name] = std::min(axes[name], range.at_most(range.high));
      }
    }
    const TrialCall trial = timed_trial(axes, call, request, numbers);
    const std::int64_t bytes = bytes_at(axes, call, request);
    if (bytes > enough.bytes && !best.empty()) {
      break;
    }
    KP_LET(const auto results, probe.run({trial}, stop));
    if (!results[0].returned && !learned.made_for.empty() && !std::exchange(within, true)) {
      extent /= 2;
      continue;
    }
    const bool fits = results[0].returned && results[0].nanoseconds <= enough.too_long;
    if (best.empty() || fits) {
      best = axes;
      took = results[0].nanoseconds;
      learned.grows = results[0].returned && !is_finite(results[0]);
    }
    if (!fits || results[0].nanoseconds >= enough.nanoseconds) {
      break;
    }
  }
  note_early_end(call, learned, best, took);
  std::string text;
  for (const auto& [name, size] : best) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
    request.sizes.emplace(name, size);
  }
  learned.notes.push_back(
      fmt::format("timed at {}, {:.2f} ms a call{} (--size {}=… says otherwise)", text,
                  static_cast<double>(took) * 1e-6, is_for_gpu(request) ? " on a processor" : "",
                  best.begin()->first));
  return {};
}

}  // namespace kernelpro::learn
