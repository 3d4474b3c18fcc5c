// Sizes of which the function asserts that one is at least another.
#include <algorithm>

#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {

bool are_in_order(const Axes& axes, const Learned& learned) {
  return std::ranges::all_of(learned.at_least, [&axes](const SizeOrder& order) {
    const auto size = axes.find(order.axis);
    const auto least = axes.find(order.least);
    return size == axes.end() || least == axes.end() ||
           size->second >= least->second + (order.more ? 1 : 0);
  });
}

void put_in_order(Axes& axes, const Learned& learned) {
  // Each may be at least one that is raised itself.
  for (std::size_t round = 0; round < learned.at_least.size(); ++round) {
    for (const SizeOrder& order : learned.at_least) {
      const auto size = axes.find(order.axis);
      const auto least = axes.find(order.least);
      if (size == axes.end() || least == axes.end() || are_in_order(axes, learned)) {
        continue;
      }
      const std::int64_t wanted = least->second + (order.more ? 1 : 0);
      const auto bound = learned.bounds.find(order.axis);
      const std::int64_t step = bound == learned.bounds.end() ? 1 : bound->second.step;
      if (size->second < wanted) {
        size->second += (wanted - size->second + step - 1) / step * step;
      }
    }
  }
}

Axes with_size(Axes axes, const std::string& name, std::int64_t size, const Learned& learned) {
  axes[name] = size;
  for (const SizeOrder& order : learned.at_least) {
    const auto least = axes.find(order.least);
    if (order.axis == name && least != axes.end()) {
      least->second = std::clamp<std::int64_t>(size - (order.more ? 1 : 0), 1, least->second);
    }
  }
  return axes;
}

Axes in_said_order(Axes axes, const Learned& learned) {
  const auto& said = learned.request.sizes;
  for (const SizeOrder& order : learned.at_least) {
    if (said.contains(order.axis) && !said.contains(order.least)) {
      axes = with_size(axes, order.axis, axes[order.axis], learned);
    }
  }
  put_in_order(axes, learned);
  for (const auto& [name, size] : said) {
    if (axes.contains(name)) {
      axes[name] = size;
    }
  }
  return axes;
}

void keep_ranges_apart(Learned& learned, const std::function<bool(const std::string&)>& is_said) {
  auto& ranges = learned.request.held_out;
  for (const SizeOrder& order : learned.at_least) {
    const auto larger = ranges.find(order.axis);
    const auto smaller = ranges.find(order.least);
    if (larger == ranges.end() || smaller == ranges.end()) {
      continue;
    }
    AxisRange& above = larger->second;
    AxisRange& below = smaller->second;
    const std::int64_t more = order.more ? 1 : 0;
    if (!is_said(order.least)) {
      const std::int64_t most = is_said(order.axis) ? above.low - more : above.high / 4;
      below.high = below.at_most(std::min(below.high, std::max(below.low, most)));
    }
    if (!is_said(order.axis) && above.low < below.high + more) {
      above.low += (below.high + more - above.low + above.step - 1) / above.step * above.step;
      above.high = std::max(above.low, above.high);
    }
  }
}

}  // namespace kernelpro::learn
