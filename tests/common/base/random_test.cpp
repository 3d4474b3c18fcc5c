#include "common/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace kernelpro {
namespace {

TEST(RandomTest, SecretSeedsDiffer) {
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 100; ++i) {
    seeds.insert(secret_seed());
  }
  EXPECT_EQ(seeds.size(), 100U);
}

TEST(RandomTest, ASequenceIsTheStreamOfItsSeed) {
  Random random(42);
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(random.next(), counter_hash(42, i));
  }
}

TEST(RandomTest, UnitStaysBelowOneAndFillsTheInterval) {
  Random random(7);
  std::array<int, 10> tenths{};
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.unit();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ++tenths[static_cast<std::size_t>(value * 10)];
  }
  for (const int count : tenths) {
    EXPECT_NEAR(count, 1000, 150);  // five standard deviations of a fair generator
  }
}

TEST(RandomTest, BelowReachesEveryValueAndNoOther) {
  Random random(9);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(random.below(6));
  }
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace kernelpro
