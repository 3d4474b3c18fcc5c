// At which sizes a function is checked and timed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {
namespace {

constexpr std::int64_t small_size = 5;      // of a filter's width and the like
constexpr std::int64_t parameter_size = 4;  // of whole numbers that are no extent

bool is_for_gpu(const NewTask& request) {
  return request.source.extension() == ".cu";
}

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

enum class AxisKind { extent, small, parameter, flag, bound };

// How many places numbers of that type tell apart.
std::int64_t most_of(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return 1 << 7;
    case DType::u8:
      return 1 << 8;
    case DType::i16:
      return 1 << 15;
    default:
      return 1LL << 31;
  }
}

// What sort of size each given axis is.
class AxisKinds {
 public:
  AxisKinds(const OwnCall& call, const NewTask& request, const WholeNumbers& numbers,
            const std::vector<std::string>& small) {
    for (const std::string& name : given_axes(call, request)) {
      const auto leaf = std::ranges::find(call.leaves, name, &Leaf::name);
      bool bounds = false;
      for (const auto& [tensor, index] : numbers.indices) {
        const auto values = std::ranges::find(call.leaves, tensor, &Leaf::name);
        // Distinct entries of a row need room there, whatever else the axis says.
        const bool distinct = !numbers.offsets.empty() && numbers.bound_of(tensor, request) == name;
        if ((index.bound == name || distinct) && values != call.leaves.end()) {
          bounds = true;
          limits_.emplace(name, most_of(values->element.dtype));
        }
      }
      AxisKind& kind = kinds_[name];
      kind = is_used(name, request) ? AxisKind::extent : AxisKind::parameter;
      if (leaf != call.leaves.end() && leaf->flag) {
        kind = AxisKind::flag;
      } else if (bounds) {
        kind = AxisKind::bound;
      } else if (contains(small, name)) {
        kind = AxisKind::small;
      }
    }
  }

  [[nodiscard]] const std::map<std::string, AxisKind>& all() const { return kinds_; }
  [[nodiscard]] std::int64_t extents() const {
    return std::ranges::count_if(kinds_,
                                 [](const auto& one) { return one.second == AxisKind::extent; });
  }

  // Not more than an index into it can hold.
  [[nodiscard]] std::int64_t capped(const std::string& name, std::int64_t size) const {
    const auto most = limits_.find(name);
    return most == limits_.end() ? size : std::min(size, most->second);
  }

  [[nodiscard]] std::int64_t size(const std::string& name, std::int64_t extent) const {
    return capped(name, size(kinds_.at(name), extent));
  }

 private:
  [[nodiscard]] static std::int64_t size(AxisKind kind, std::int64_t extent) {
    switch (kind) {
      case AxisKind::small:
        return small_size;
      case AxisKind::parameter:
        return parameter_size;
      case AxisKind::flag:
        return 1;
      case AxisKind::bound:
        return std::max<std::int64_t>(extent, 64);
      case AxisKind::extent:
        break;
    }
    return extent;
  }

  std::map<std::string, AxisKind> kinds_;
  std::map<std::string, std::int64_t> limits_;
};

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
    case AxisKind::flag:
      return 1;
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

}  // namespace

namespace {

std::int64_t lowest(AxisKind kind, const WholeNumbers& numbers) {
  if (kind == AxisKind::bound) {
    return numbers.offsets.empty() ? 5 : 32;
  }
  return kind == AxisKind::flag ? 0 : 1;
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

}  // namespace

Status settle_held_out(const Probe& probe, const OwnCall& call, Learned& learned,
                       const WholeNumbers& numbers, const std::vector<std::string>& small,
                       std::stop_token stop) {
  const NewTask& request = learned.request;
  const AxisKinds kinds(call, request, numbers, small);
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
    if (is_given(name) || kind == AxisKind::flag || kind == AxisKind::bound) {
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
  return {};
}

namespace {

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

// Twice at these sizes, with its tensors filled as the task will fill them.
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

}  // namespace

Status settle_sizes(const std::function<Result<Probe>()>& timing, const OwnCall& call,
                    Learned& learned, const WholeNumbers& numbers,
                    const std::vector<std::string>& small, std::stop_token stop) {
  NewTask& request = learned.request;
  const AxisKinds kinds(call, request, numbers, small);
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
