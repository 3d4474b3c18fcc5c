#include "coordinator/task/learn_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kernelpro::learn {
namespace {

// Distinct primes tell products of axes apart, even numbers and multiples how divisions round. With
// many axes there are more sizes than axes: were all of them always taken, their sum would be the
// same in every trial.
const std::vector<std::int64_t>& usual_sizes(std::size_t axes) {
  static const std::vector<std::int64_t> few = {7, 10, 11, 12, 13, 17, 18, 19, 23, 29};
  static const std::vector<std::int64_t> many = {5, 6, 7, 8, 9, 11, 12, 13};
  return axes > 4 ? many : few;
}

std::int64_t highest_multiple(std::int64_t step, std::size_t extents) {
  constexpr std::int64_t most_blocks = 9;
  constexpr std::array<std::int64_t, 4> by_extents = {600, 64, 24, 12};
  const std::int64_t usual = by_extents[std::clamp<std::size_t>(extents, 1, by_extents.size()) - 1];
  return std::max(step * (step < 16 ? 4 : most_blocks), usual / step * step);
}

// How often `other` goes into `axis`.
std::string name_of_times(const std::string& axis, const std::string& other) {
  return axis + "_per_" + other;
}

// How many times the step a size is on trial.
std::vector<std::int64_t> counts_of(std::int64_t step) {
  if (step == 2) {
    return {3, 4, 5, 6, 7, 8, 9, 11, 13};
  }
  if (step == 4) {
    return {2, 3, 4, 5, 6, 7};
  }
  return step < 16 ? std::vector<std::int64_t>{1, 2, 3, 4, 5}
                   : std::vector<std::int64_t>{1, 2, 3, 4, 5, 7, 9};
}

// Sizes that are drawn where nothing is known but what the user says is checked: with its step, and
// also beyond it.
std::vector<std::int64_t> sizes_on_step(const std::string& axis, std::size_t axes,
                                        const NewTask& request) {
  std::vector<std::int64_t> sizes = usual_sizes(axes);
  const auto range = request.held_out.find(axis);
  if (range != request.held_out.end()) {
    const AxisRange& on = range->second;
    std::ranges::transform(sizes, sizes.begin(),
                           [&on](std::int64_t size) { return on.low % on.step + size * on.step; });
  }
  return sizes;
}

// One draw, in no order.
Axes drawn_once(std::mt19937& random, const std::vector<std::string>& axes, const NewTask& request,
                const Supposition& supposed) {
  Axes drawn;
  std::set<std::int64_t> taken;
  for (const std::string& name : axes) {
    const auto own = supposed.drawn_from.find(name);
    const std::vector<std::int64_t> sizes =
        own == supposed.drawn_from.end() ? sizes_on_step(name, axes.size(), request) : own->second;
    const bool all_taken =
        std::ranges::all_of(sizes, [&taken](std::int64_t size) { return taken.contains(size); });
    std::int64_t size = 0;
    do {
      size = sizes[random() % sizes.size()];
    } while (!all_taken && taken.contains(size));
    taken.insert(size);
    drawn[name] = size;
  }
  return drawn;
}

}  // namespace

std::vector<std::int64_t> trial_sizes(const AxisRange& range, std::size_t axes) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size :
       range.step == 1 ? usual_sizes(axes) : std::vector<std::int64_t>()) {
    if (range.low <= size && size <= range.high) {
      sizes.push_back(size);
    }
  }
  constexpr std::size_t enough = 5;
  const bool few = sizes.size() < enough;
  for (const std::int64_t more : {0, 1, 2, 3, 4, 5, 7, 10, 11, 13}) {
    const std::int64_t size = range.low + more * range.step;
    if (few && size <= range.high && std::ranges::find(sizes, size) == sizes.end()) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

Supposition multiples(const std::vector<std::string>& axes, std::int64_t step,
                      std::size_t extents) {
  const std::vector<std::int64_t> counts = counts_of(step);
  Supposition out;
  for (const std::string& axis : axes) {
    for (const std::int64_t count : counts) {
      out.drawn_from[axis].push_back(step * count);
    }
    const std::int64_t low = step * counts.front();
    out.held_out[axis] = {low, std::max(low, highest_multiple(step, extents)), step};
  }
  return out;
}

Supposition beyond_blocks(const std::string& axis, std::int64_t step) {
  Supposition out;
  for (const std::int64_t count : {1, 2, 3, 5}) {
    for (const std::int64_t more : {std::int64_t{0}, std::int64_t{1}, step / 2, step - 1}) {
      out.drawn_from[axis].push_back(step * count + more);
    }
  }
  out.held_out[axis] = {step, 9 * step, 1};
  return out;
}

Supposition small_sizes(const std::vector<std::string>& axes) {
  Supposition out;
  for (const std::string& axis : axes) {
    out.drawn_from[axis] = {1, 2, 3, 4};
  }
  return out;
}

Supposition multiple_of(const std::string& axis, const std::string& other, std::int64_t times) {
  Supposition out;
  out.multiple_of[axis] = {other, times};
  // Their product is as large as other sizes are.
  out.drawn_from[other] = {2, 3, 4, 5, 6};
  out.drawn_from[name_of_times(axis, other)] = {2, 3, 5, 7};
  return out;
}

void suppose(const Supposition& supposed, Learned& learned, std::vector<std::string>& axes) {
  for (const auto& [axis, range] : supposed.held_out) {
    learned.request.held_out[axis] = range;
    if (range.step > 1 && !supposed.stated.contains(axis)) {
      learned.notes.push_back(fmt::format(
          "{0} is checked at multiples of {1} alone: others do not show how far it reaches "
          "(--held-out {0}=LOW:HIGH says otherwise)",
          axis, range.step));
    }
  }
  for (const auto& [axis, row] : supposed.at_least) {
    const std::string room = axis + "_room";
    const std::string length =
        row.step == 1 ? row.length
                      : fmt::format("({0} + {1})/{2}*{2}", row.length, row.step - 1, row.step);
    learned.request.derived[axis] = row.step == 1
                                        ? fmt::format("{} + {} - 1", length, room)
                                        : fmt::format("{} + {}*({} - 1)", length, row.step, room);
    learned.request.more_axes.push_back(room);
    auto& sizes = learned.request.sizes;
    const auto formula = Formula::parse(length);
    const auto least = formula.ok() && sizes.contains(axis) ? formula->evaluate_size(sizes)
                                                            : Result<std::int64_t>(0);
    const std::int64_t timed = least.ok() && *least > 0 ? (sizes.at(axis) - *least) / row.step : 0;
    sizes.erase(axis);
    sizes[room] = std::max<std::int64_t>(0, timed) + 1;
    learned.request.held_out[room] = {1, 8, 1};
    learned.notes.push_back(fmt::format("{0} is at least {1}, as its assert says: {2}", axis,
                                        row.length, learned.request.derived.at(axis)));
    std::ranges::replace(axes, axis, room);
  }
  for (const auto& [axis, multiple] : supposed.multiple_of) {
    const std::string& other = multiple.of;
    const std::string times = name_of_times(axis, other);
    const std::string factor = multiple.times == 1 ? "" : fmt::format("{}*", multiple.times);
    learned.request.derived[axis] = factor + other + "*" + times;
    learned.request.more_axes.push_back(times);
    auto& sizes = learned.request.sizes;
    if (sizes.contains(axis) && sizes.contains(other)) {
      sizes[times] = sizes.at(axis) / (sizes.at(other) * multiple.times);
      sizes.erase(axis);
    }
    learned.notes.push_back(
        fmt::format("{0} is taken to be a multiple of {3}{1}: {2} of it "
                    "(--held-out {0}=LOW:HIGH says otherwise)",
                    axis, other, times, factor));
    std::ranges::replace(axes, axis, times);
  }
}

Axes draw_sizes(std::mt19937& random, const std::vector<std::string>& axes, const Learned& learned,
                const Supposition& supposed) {
  constexpr int draws = 30;
  Axes drawn;
  for (int i = 0; i < draws; ++i) {
    drawn = drawn_once(random, axes, learned.request, supposed);
    const Axes whole = completed(drawn, learned.request);
    if (are_in_order(whole, learned)) {
      return whole;
    }
  }
  // Sizes that are never in order as they are drawn: each goes on top of its least.
  for (const SizeOrder& order : learned.at_least) {
    const Axes whole = completed(drawn, learned.request);
    const auto size = drawn.find(order.axis);
    const auto least = whole.find(order.least);
    if (size != drawn.end() && least != whole.end() && size->second <= least->second) {
      const auto bound = learned.bounds.find(order.axis);
      const std::int64_t step = bound == learned.bounds.end() ? 1 : bound->second.step;
      size->second += (least->second + step - 1) / step * step;
    }
  }
  return completed(drawn, learned.request);
}

Axes find_asserted(const Probe& probe, const OwnCall& call, const Axes& drawn,
                   const std::string& assertion, const std::vector<std::string>& axes,
                   std::stop_token stop) {
  constexpr std::size_t most_named = 4;
  constexpr int draws = 64;
  const std::vector<std::string> named = named_in(assertion, axes);
  if (named.empty() || named.size() > most_named) {
    return {};
  }
  std::mt19937 random(3);
  std::vector<TrialCall> calls;
  for (int i = 0; i < draws; ++i) {
    TrialCall trial{drawn, blind_fillings(call)[0], {}, 0};
    for (const std::string& name : named) {
      trial.axes[name] = std::array<std::int64_t, 8>{1, 2, 3, 4, 0, 5, 8, 16}[random() % 8];
    }
    calls.push_back(std::move(trial));
  }
  const auto results = probe.run(calls, std::move(stop));
  Axes best;
  for (std::size_t i = 0; results.ok() && i < results->size(); ++i) {
    if (writes((*results)[i])) {
      const Axes takes = only(calls[i].axes, named);
      // The more they differ from nothing, the more it does with them.
      const auto sum = [](const Axes& sizes) {
        std::int64_t all = 0;
        for (const auto& [name, size] : sizes) {
          all += std::min<std::int64_t>(size, 3);
        }
        return all;
      };
      best = best.empty() || sum(takes) > sum(best) ? takes : best;
    }
  }
  return best;
}

bool has_tiny_sizes(const Supposition& supposed) {
  constexpr std::int64_t tiny = 4;
  return !supposed.multiple_of.empty() ||
         std::ranges::any_of(supposed.drawn_from, [](const auto& one) {
           return !one.second.empty() && std::ranges::max(one.second) <= tiny;
         });
}

}  // namespace kernelpro::learn
