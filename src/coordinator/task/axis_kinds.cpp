#include "coordinator/task/axis_kinds.hpp"

#include <algorithm>

namespace kernelpro::learn {

namespace {

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

}  // namespace

AxisKinds::AxisKinds(const OwnCall& call, const Learned& learned, const WholeNumbers& numbers,
                     const std::vector<std::string>& small) {
  const NewTask& request = learned.request;
  for (const std::string& name : given_axes(call, request)) {
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
    if (const auto drawn = learned.drawn.find(name); drawn != learned.drawn.end()) {
      kind = AxisKind::drawn;
      limits_[name] = drawn->second.high;
      timed_[name] = drawn->second.timed;
    } else if (bounds) {
      kind = AxisKind::bound;
    } else if (contains(small, name)) {
      kind = AxisKind::small;
    }
  }
}

std::int64_t AxisKinds::size(AxisKind kind, std::int64_t extent) {
  switch (kind) {
    case AxisKind::small:
      return small_size;
    case AxisKind::parameter:
      return parameter_size;
    case AxisKind::drawn:
      return 1;
    case AxisKind::bound:
      return std::max<std::int64_t>(extent, 64);
    case AxisKind::extent:
      break;
  }
  return extent;
}

bool is_for_gpu(const NewTask& request) {
  return request.source.extension() == ".cu";
}

}  // namespace kernelpro::learn
