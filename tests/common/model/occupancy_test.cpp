#include "common/model/occupancy.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace kernelpro {
namespace {

using Limits = std::map<std::string, double>;

Limits hopper() {
  return {{"warps", 64},
          {"blocks", 32},
          {"registers", 65536},
          {"shared_bytes", 233472},
          {"reserved_shared_bytes", 1024}};
}

int by(const Occupancy& occupancy, OccupancyLimit limit) {
  const auto found = occupancy.limits.find(limit);
  return found == occupancy.limits.end() ? -1 : found->second;
}

// What ncu 2025.3.1 says of nine kernels on an H200.
struct Seen {
  const char* kernel;
  BlockNeeds needs;
  double configured_shared_bytes;
  int registers;
  int shared;
  int warps;
};

TEST(Occupancy, IsWhatNcuSays) {
  const std::vector<Seen> kernels = {
      {"tmpl", {.threads = 256, .registers = 16}, 32768, 16, 32, 8},
      {"banks", {.threads = 256, .registers = 28, .dynamic_shared_bytes = 16896}, 167936, 8, 9, 8},
      {"spill", {.threads = 256, .registers = 32}, 32768, 8, 32, 8},
      {"barrier", {.threads = 256, .registers = 16, .static_shared_bytes = 1024}, 32768, 16, 16, 8},
      {"mm", {.threads = 256, .registers = 32}, 32768, 8, 32, 8},
      {"hm", {.threads = 128, .registers = 32}, 32768, 16, 32, 16},
  };
  for (const Seen& seen : kernels) {
    SCOPED_TRACE(seen.kernel);
    Limits limits = hopper();
    limits["shared_bytes"] = seen.configured_shared_bytes;
    const std::optional<Occupancy> occupancy = occupancy_of(seen.needs, limits);
    ASSERT_TRUE(occupancy);
    EXPECT_EQ(by(*occupancy, OccupancyLimit::blocks), 32);
    EXPECT_EQ(by(*occupancy, OccupancyLimit::registers), seen.registers);
    EXPECT_EQ(by(*occupancy, OccupancyLimit::shared), seen.shared);
    EXPECT_EQ(by(*occupancy, OccupancyLimit::warps), seen.warps);
    EXPECT_EQ(occupancy->occupancy, 1);
    // The driver set aside as much as the other limits could use.
    EXPECT_EQ(occupancy_of(seen.needs, hopper())->blocks, occupancy->blocks);
  }
}

// Computed with CUDA's cuda_occupancy.h.
TEST(Occupancy, RoundsRegistersAndSharedMemoryAsTheHardwareDoes) {
  const auto blocks = [](BlockNeeds needs, const Limits& limits) {
    return occupancy_of(needs, limits)->blocks;
  };
  EXPECT_EQ(blocks({.threads = 256, .registers = 33}, hopper()), 6);
  EXPECT_EQ(blocks({.threads = 85, .registers = 46}, hopper()), 13);
  EXPECT_EQ(blocks({.threads = 11, .registers = 107}, hopper()), 16);
  EXPECT_EQ(blocks({.threads = 1024, .registers = 64}, hopper()), 1);
  EXPECT_EQ(blocks({.threads = 1024, .registers = 65}, hopper()), 0);
  EXPECT_EQ(blocks({.threads = 32, .registers = 255}, hopper()), 8);
  EXPECT_EQ(blocks({.threads = 32, .dynamic_shared_bytes = 232448}, hopper()), 1);
  EXPECT_EQ(blocks({.threads = 32, .dynamic_shared_bytes = 232449}, hopper()), 0);
  const Limits volta = {{"threads", 2048},
                        {"blocks", 32},
                        {"registers", 65536},
                        {"shared_bytes", 98304},
                        {"reserved_shared_bytes", 0}};
  EXPECT_EQ(blocks({.threads = 63, .registers = 208, .static_shared_bytes = 27818}, volta), 3);
  EXPECT_EQ(blocks({.threads = 64, .static_shared_bytes = 4096 + 1}, volta), 22);
}

TEST(Occupancy, NamesWhatLimitsIt) {
  const auto limiter = [](BlockNeeds needs) { return occupancy_of(needs, hopper())->limiter; };
  EXPECT_EQ(limiter({.threads = 256, .registers = 128}), OccupancyLimit::registers);
  EXPECT_EQ(limiter({.threads = 128, .registers = 32, .static_shared_bytes = 60000}),
            OccupancyLimit::shared);
  EXPECT_EQ(limiter({.threads = 32, .registers = 16}), OccupancyLimit::blocks);
  EXPECT_EQ(limiter({.threads = 512, .registers = 32}), OccupancyLimit::warps);
  EXPECT_EQ(occupancy_of({.threads = 32, .registers = 16}, hopper())->occupancy, 0.5);
  Limits few_barriers = hopper();
  few_barriers["barriers"] = 64;
  EXPECT_EQ(occupancy_of({.threads = 32, .barriers = 16}, few_barriers)->limiter,
            OccupancyLimit::barriers);
  EXPECT_EQ(name_of(OccupancyLimit::shared), "shared");
}

TEST(Occupancy, LeavesOutWhatIsNotKnown) {
  const std::optional<Occupancy> occupancy =
      occupancy_of({.threads = 256, .registers = 255}, {{"threads", 2048}});
  ASSERT_TRUE(occupancy);
  EXPECT_EQ(occupancy->limits.size(), 1u);
  EXPECT_EQ(occupancy->blocks, 8);
  EXPECT_FALSE(occupancy_of({.threads = 0}, hopper()));
  EXPECT_FALSE(occupancy_of({.threads = 256}, {}));
  EXPECT_FALSE(occupancy_of({.threads = 256}, {{"warps", 0}}));
  EXPECT_FALSE(occupancy_of({.threads = 256}, {{"warps", -3}}));
}

}  // namespace
}  // namespace kernelpro
