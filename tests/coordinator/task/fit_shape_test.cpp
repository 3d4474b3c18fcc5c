#include "coordinator/task/fit_shape.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// What a function that reaches `extent` elements would be seen to reach.
std::vector<Reach> reaches(const std::function<std::int64_t(std::int64_t, std::int64_t)>& extent) {
  std::vector<Reach> out;
  for (const std::int64_t m : {7, 10, 12, 13, 18}) {
    for (const std::int64_t n : {11, 17, 19, 20, 29}) {
      out.push_back({{{"m", m}, {"n", n}}, extent(m, n)});
    }
  }
  return out;
}

TEST(FitShape, FindsProductsOfExtents) {
  EXPECT_THAT(fit_shape(reaches([](auto m, auto n) { return m * n; })),
              Optional(ElementsAre("m", "n")));
  EXPECT_THAT(fit_shape(reaches([](auto m, auto) { return m + 1; })),
              Optional(ElementsAre("m + 1")));
  EXPECT_THAT(fit_shape(reaches([](auto m, auto n) { return ((m - 3) / 2 + 1) * n; })),
              Optional(ElementsAre("n", "(m - 3)/2 + 1")));
  EXPECT_THAT(fit_shape(reaches([](auto, auto) { return 256; })), Optional(ElementsAre("256")));
}

// The powers of two below a product: short of it by less than an edge of so small sizes.
TEST(FitShape, TakesNothingThatIsOnlyNearWhereExactIsAskedFor) {
  std::vector<Reach> out;
  for (const std::int64_t m : {2, 3, 4, 5, 6}) {
    for (const std::int64_t times : {2, 3, 5, 7}) {
      std::int64_t reach = 1;
      for (std::int64_t i = 1; i < m * times; i *= 2) {
        reach = i + 1;
      }
      out.push_back({{{"m", m}, {"times", times}}, reach});
    }
  }
  EXPECT_THAT(fit_shape(out), Optional(ElementsAre("m", "times")));
  EXPECT_EQ(fit_shape(out, Closeness::exact), std::nullopt);
}

TEST(FitShape, FindsBlocksOfManyNumbers) {
  std::vector<Reach> floor;
  std::vector<Reach> ceiling;
  for (const std::int64_t n : {64, 65, 127, 128, 129, 191, 192, 320, 383}) {
    floor.push_back({{{"n", n}}, n / 64});
    ceiling.push_back({{{"n", n}}, (n + 63) / 64});
  }
  EXPECT_THAT(fit_shape(floor), Optional(ElementsAre("n/64")));
  EXPECT_THAT(fit_shape(ceiling), Optional(ElementsAre("(n + 63)/64")));
}

TEST(FitShape, TakesAnEdgeThatIsLeftOutForTheWhole) {
  EXPECT_THAT(fit_shape(reaches([](auto m, auto n) { return (m - 2) * n + n - 1; })),
              Optional(ElementsAre("m", "n")));
}

TEST(FitShape, GivesNothingRatherThanAGuess) {
  EXPECT_EQ(fit_shape(reaches([](auto m, auto n) { return m % 3 * 97 + n % 7 * 31 + 1; })),
            std::nullopt);
  EXPECT_EQ(fit_shape({}), std::nullopt);
}

TEST(CoverShape, IsTheLeastProductThatIsExceededNowhere) {
  // The largest power of two below n, and one.
  const std::vector<Reach> reaches = {{{{"m", 7}, {"n", 10}}, 9}, {{{"m", 11}, {"n", 19}}, 17}};
  EXPECT_EQ(cover_shape(reaches), "n");
  EXPECT_EQ(cover_shape({{{{"m", 7}, {"n", 10}}, 15}, {{{"m", 11}, {"n", 19}}, 21}}), "3*m");
  EXPECT_EQ(cover_shape({{{{"n", 2}}, 900}}), std::nullopt);
}

}  // namespace
}  // namespace kernelpro
