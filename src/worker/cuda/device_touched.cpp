// What a round left around and in the outputs.
#include <algorithm>
#include <limits>

#include "worker/cuda/device_memory.hpp"

namespace kernelpro {

// In pieces that blocks of threads can share.
void DeviceMemory::watch(cuda::Pointer data, std::uint64_t begin, std::uint64_t end,
                         cuda::Pointer found, std::vector<Watched>& out) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 18;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t next = std::min(end, (at / piece + 1) * piece);
    out.push_back({data, at, next, found});
    at = next;
  }
}

Touched DeviceMemory::touched(Side side, const std::vector<std::uint16_t>& called) {
  const std::size_t outputs = plan_.tensors.size() - plan_.input_count;
  constexpr std::size_t ends = 2;  // before and after the data
  const Range none{std::numeric_limits<std::uint64_t>::max(), 0};
  std::vector<Range> found(static_cast<std::size_t>(plan_.sets) * outputs * ends, none);
  const std::size_t bytes = found.size() * sizeof(Range);
  std::vector<bool> was_called(static_cast<std::size_t>(plan_.sets), false);
  for (const std::uint16_t set : called) {
    was_called[set] = true;
  }
  std::vector<Watched> watched;
  const auto list_all = [&](cuda::Pointer out) {
    watched.clear();
    for (int set = 0; set < plan_.sets; ++set) {
      if (narrowed_.value_or(set) != set) {
        out += outputs * ends * sizeof(Range);
        continue;
      }
      for (std::size_t i = plan_.input_count; i < plan_.tensors.size(); ++i) {
        const TensorPlan& tensor = plan_.tensors[i];
        const std::uint64_t end = tensor.data_offset + tensor.bytes;
        // In a set that was not called the data is watched together with what lies before it.
        const std::uint64_t first_end =
            was_called[static_cast<std::size_t>(set)] ? tensor.data_offset : end;
        watch(region(side, set, i), 0, first_end, out, watched);
        watch(region(side, set, i), end, tensor.region_bytes, out + sizeof(Range), watched);
        out += ends * sizeof(Range);
      }
    }
  };
  list_all(0);
  const cuda::Pointer out =
      results_.start(found.data(), bytes, bytes + watched.size() * sizeof(Watched));
  if (trouble_.any()) {
    return {};
  }
  list_all(out);
  const auto count = static_cast<std::uint64_t>(watched.size());
  const cuda::Pointer list = out + bytes;
  must(gpu_.driver().copy_to_device(list, watched.data(), count * sizeof(Watched), gpu_.stream()),
       "checking guards");
  must(gpu_.launch("find_written", 256 * count, list, count), "checking guards");
  results_.read(found.data(), bytes);
  Touched touched;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto set = static_cast<int>(i / ends / outputs);
    const TensorPlan& tensor = plan_.tensors[plan_.input_count + i / ends % outputs];
    if (found[i].last == 0) {
      continue;
    }
    if (!was_called[static_cast<std::size_t>(set)]) {
      touched.uncalled_set = touched.uncalled_set.value_or(set);
    } else if (!touched.breach) {
      const bool before = i % ends == 0;
      const auto begin = static_cast<std::int64_t>(tensor.data_offset);
      const auto end = begin + static_cast<std::int64_t>(tensor.bytes);
      touched.breach = GuardBreach{tensor.name,
                                   before ? static_cast<std::int64_t>(found[i].last) - 1 - begin
                                          : static_cast<std::int64_t>(found[i].first) - end,
                                   before};
    }
  }
  return touched;
}

}  // namespace kernelpro
