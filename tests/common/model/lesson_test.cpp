#include "common/model/lesson.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

TEST(Tally, OfPartsIsThatOfTheWhole) {
  const double gains[] = {0.5, -0.25, 1.0, 0.125};
  Tally whole;
  Tally first;
  Tally second;
  for (int i = 0; i < 4; ++i) {
    whole.add_gain(gains[i]);
    (i < 1 ? first : second).add_gain(gains[i]);
  }
  whole.add_failure(Outcome::crashed);
  second.add_failure(Outcome::crashed);
  first.merge(second);
  EXPECT_EQ(first.tried, 5);
  EXPECT_EQ(first.failed, 1);
  EXPECT_EQ(first.causes, whole.causes);
  EXPECT_NEAR(first.mean, 0.34375, 1e-12);
  EXPECT_NEAR(first.mean, whole.mean, 1e-12);
  EXPECT_NEAR(first.spread, whole.spread, 1e-12);
  EXPECT_NEAR(first.useful, 1.625 / 5, 1e-12);
  first.merge(Tally());
  EXPECT_NEAR(first.mean, whole.mean, 1e-12);
}

TEST(MovePriors, OfASizeAreItsOwnAndElseThoseOfTheMove) {
  const MovePriors priors = {{"tune", {0.1, 2}}, {"tune N = 4", {0.5, 1}}};
  EXPECT_EQ(find_prior(priors, "tune", "N = 4").gain, 0.5);
  EXPECT_EQ(find_prior(priors, "tune", "N = 8").gain, 0.1);
  EXPECT_EQ(find_prior(priors, "tile", "loops i, j").trials, 0);
}

}  // namespace
}  // namespace kernelpro
