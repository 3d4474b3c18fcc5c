#include "common/model/occupancy.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "common/model/enum_names.hpp"

namespace kernelpro {
namespace {

constexpr std::array<std::string_view, 5> limit_names = {"warps", "blocks", "registers", "shared",
                                                         "barriers"};
static_assert(limit_names.size() == static_cast<std::size_t>(OccupancyLimit::barriers) + 1);

constexpr std::int64_t warp_threads = 32;
// The same for all architectures from sm_70 on (CUDA's occupancy calculator).
constexpr std::int64_t register_unit = 256;  // of a warp
constexpr std::int64_t quarters = 4;         // of a multiprocessor, with their own registers

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::optional<std::int64_t> limit_of(const std::map<std::string, double>& limits,
                                     const std::string& key) {
  constexpr double most = 1e15;
  const auto found = limits.find(key);
  if (found == limits.end() || !(found->second >= 0) || found->second > most) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(found->second);
}

std::optional<std::int64_t> warps_of(const std::map<std::string, double>& limits) {
  if (const std::optional<std::int64_t> warps = limit_of(limits, "warps")) {
    return warps;
  }
  const std::optional<std::int64_t> threads = limit_of(limits, "threads");
  return threads ? std::optional(*threads / warp_threads) : std::nullopt;
}

// A warp's registers come from one quarter of the multiprocessor.
std::int64_t blocks_by_registers(std::int64_t registers, std::int64_t warps, std::int64_t file) {
  const std::int64_t of_warp = rounded_up(registers * warp_threads, register_unit);
  return file / quarters / of_warp * quarters / warps;
}

// Architectures that reserve shared memory for themselves (sm_80 on) give it out in smaller units.
std::int64_t blocks_by_shared(std::int64_t wanted, std::int64_t reserved, std::int64_t bytes) {
  const std::int64_t unit = reserved > 0 ? 128 : 256;
  return bytes / rounded_up(wanted + reserved, unit);
}

}  // namespace

std::string_view name_of(OccupancyLimit limit) {
  return enum_name(limit_names, limit);
}

std::optional<Occupancy> occupancy_of(const BlockNeeds& needs,
                                      const std::map<std::string, double>& limits) {
  const std::optional<std::int64_t> most_warps = warps_of(limits);
  if (!most_warps || *most_warps == 0 || needs.threads <= 0) {
    return std::nullopt;
  }
  Occupancy result;
  const auto add = [&](OccupancyLimit limit, std::int64_t blocks) {
    result.limits[limit] =
        static_cast<int>(std::min<std::int64_t>(blocks, std::numeric_limits<int>::max()));
  };
  const std::int64_t warps = rounded_up(needs.threads, warp_threads) / warp_threads;
  add(OccupancyLimit::warps, *most_warps / warps);
  if (const std::optional<std::int64_t> blocks = limit_of(limits, "blocks")) {
    add(OccupancyLimit::blocks, *blocks);
  }
  if (const std::optional<std::int64_t> file = limit_of(limits, "registers");
      file && needs.registers > 0) {
    add(OccupancyLimit::registers, blocks_by_registers(needs.registers, warps, *file));
  }
  const std::int64_t shared = std::max<std::int64_t>(needs.static_shared_bytes, 0) +
                              std::max<std::int64_t>(needs.dynamic_shared_bytes, 0);
  const std::int64_t reserved = limit_of(limits, "reserved_shared_bytes").value_or(0);
  if (const std::optional<std::int64_t> bytes = limit_of(limits, "shared_bytes");
      bytes && shared + reserved > 0) {
    add(OccupancyLimit::shared, blocks_by_shared(shared, reserved, *bytes));
  }
  if (const std::optional<std::int64_t> barriers = limit_of(limits, "barriers");
      barriers && needs.barriers > 0) {
    add(OccupancyLimit::barriers, *barriers / needs.barriers);
  }
  const auto smallest =
      std::min_element(result.limits.begin(), result.limits.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  result.limiter = smallest->first;
  result.blocks = smallest->second;
  result.occupancy = static_cast<double>(result.blocks * warps) / static_cast<double>(*most_warps);
  return result;
}

}  // namespace kernelpro
