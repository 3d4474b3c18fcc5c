#include "common/base/secret.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "support/keys.hpp"

namespace kernelpro {
namespace {

using testing::numbered_key;

TEST(SecretKey, IsAnotherEveryTime) {
  std::set<std::string> keys;
  for (int i = 0; i < 100; ++i) {
    keys.insert(key_text(secret_key()));
  }
  EXPECT_EQ(keys.size(), 100U);
}

TEST(KeyText, IsReadBack) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::string text = key_text(numbered_key(i));
    EXPECT_EQ(text.size(), 64U);
    ASSERT_TRUE(parse_key(text)) << text;
    EXPECT_EQ(*parse_key(text), numbered_key(i));
  }
  EXPECT_EQ(key_text(Key{{0x01234567U, 0x89abcdefU}}), "0123456789abcdef" + std::string(48, '0'));
}

TEST(KeyText, InAnyOtherFormIsRefused) {
  const std::string good = key_text(numbered_key(1));
  for (const std::string& bad : {std::string(), good.substr(1), good + "0", "0x" + good.substr(2),
                                 "G" + good.substr(1), "A" + good.substr(1), " " + good.substr(1),
                                 "-" + good.substr(1), good.substr(0, 63) + std::string(1, '\0')}) {
    EXPECT_FALSE(parse_key(bad)) << bad;
  }
}

TEST(ShortKey, IsTheFirstTwoWords) {
  EXPECT_EQ(short_key(Key{{0x76543210U, 0xfedcba98U, 7}}), 0xfedcba9876543210ULL);
}

TEST(KeyedRandom, RepeatsItselfUnderTheSameKeyAndUnderNoOther) {
  KeyedRandom first(numbered_key(1));
  KeyedRandom again(numbered_key(1));
  KeyedRandom other(numbered_key(2));
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t drawn = first.next();
    EXPECT_EQ(drawn, again.next());
    seen.insert(drawn);
    seen.insert(other.next());
  }
  EXPECT_EQ(seen.size(), 2000U);
}

TEST(KeyedRandom, BelowStaysInRangeAndIsEven) {
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{6},
                                    std::uint64_t{7}, (std::uint64_t{1} << 63) + 1}) {
    SCOPED_TRACE(bound);
    KeyedRandom random(numbered_key(bound));
    constexpr int draws = 12'000;
    std::array<int, 7> sevenths{};
    for (int i = 0; i < draws; ++i) {
      const std::uint64_t drawn = random.below(bound);
      ASSERT_LT(drawn, bound);
      // Which seventh of the range it is in; one number is one of them.
      const std::uint64_t part = bound <= 7 ? drawn : drawn / (bound / 7 + 1);
      ++sevenths[part];
    }
    const double parts = bound <= 7 ? static_cast<double>(bound) : 7;
    for (std::size_t i = 0; i < static_cast<std::size_t>(parts); ++i) {
      EXPECT_NEAR(sevenths[i], draws / parts, 250) << i;  // six standard deviations
    }
  }
}

TEST(KeyedRandom, UnitStaysBelowOneAndFillsTheInterval) {
  KeyedRandom random(numbered_key(7));
  std::array<int, 10> tenths{};
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.unit();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ++tenths[static_cast<std::size_t>(value * 10)];
  }
  for (const int count : tenths) {
    EXPECT_NEAR(count, 1000, 150);  // five standard deviations
  }
}

}  // namespace
}  // namespace kernelpro
