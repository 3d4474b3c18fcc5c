// How many blocks of a kernel fit on a multiprocessor, by arithmetic.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpro {

// What a launch asks for.
struct BlockNeeds {
  int threads = 0;    // of a block
  int registers = 0;  // of a thread; 0: not known
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  int barriers = 0;  // of a block
};

// What keeps more blocks from a multiprocessor.
enum class OccupancyLimit { warps, blocks, registers, shared, barriers };

[[nodiscard]] std::string_view name_of(OccupancyLimit limit);

struct Occupancy {
  // Blocks a multiprocessor by each limit alone; one that the GPU's limits do not tell is absent.
  std::map<OccupancyLimit, int> limits;
  OccupancyLimit limiter = OccupancyLimit::warps;  // the smallest of them
  int blocks = 0;                                  // 0: the kernel cannot be launched
  double occupancy = 0;                            // 0 to 1, in warps
};

// `limits` are Profile::limits: "warps" (or "threads"), "blocks", "registers", "shared_bytes",
// "reserved_shared_bytes" and "barriers" of a multiprocessor. Nothing: how many warps it holds is
// not known, or the block has no threads.
//
// "shared_bytes" is the most that can be shared memory. The driver may set less aside, enough for
// the blocks that the other limits leave; ncu's limit by shared memory is of that amount.
[[nodiscard]] std::optional<Occupancy> occupancy_of(const BlockNeeds& needs,
                                                    const std::map<std::string, double>& limits);

}  // namespace kernelpro
