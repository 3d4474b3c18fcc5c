#include "coordinator/tune/surrogate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kernelpro {
namespace {

TuneSpace line(std::vector<std::string> values, bool ordinal = true) {
  return TuneSpace::make({{"ONE", {"1"}, true}, {"V", std::move(values), ordinal}}).value();
}

TEST(SurrogateTest, IsSureNearWhatItKnowsAndFollowsIt) {
  const TuneSpace space = line({"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"});
  Surrogate surrogate(space);
  Random random(1);
  std::vector<Places> points;
  std::vector<double> values;
  for (const Code code : {0U, 2U, 4U, 6U}) {
    points.push_back(surrogate.places(space, code));
    values.push_back(static_cast<double>(code));
  }
  surrogate.fit(points, values, random, 20);
  const auto at = [&](Code code) {
    return surrogate.predict(surrogate.alike(surrogate.places(space, code)));
  };
  EXPECT_NEAR(at(2).mean, 2, 0.5);
  EXPECT_NEAR(at(3).mean, 3, 0.7);
  EXPECT_LT(at(2).deviation, at(3).deviation + 1e-12);
  EXPECT_LT(at(3).deviation, at(10).deviation);
}

TEST(SurrogateTest, NamesAreAlikeOrNotAndNumbersByDistance) {
  Random random(1);
  const auto similarity = [&random](const TuneSpace& space, Code one, Code other) {
    Surrogate surrogate(space);
    surrogate.fit({surrogate.places(space, 0), surrogate.places(space, 1)}, {1, 2}, random, 0);
    return surrogate.similarity(surrogate.places(space, one), surrogate.places(space, other));
  };
  const TuneSpace names = line({"a", "b", "c", "d"}, false);
  EXPECT_EQ(similarity(names, 0, 1), similarity(names, 0, 3));
  const TuneSpace numbers = line({"1", "2", "4", "8"});
  EXPECT_GT(similarity(numbers, 0, 1), similarity(numbers, 0, 3));
  EXPECT_EQ(similarity(numbers, 2, 2), 1);
  // Two divides 48 and 80 four times, 64 six times.
  const TuneSpace sizes = line({"32", "48", "64", "80", "96"});
  EXPECT_GT(similarity(sizes, 1, 3), similarity(sizes, 1, 2));
}

TEST(SurrogateTest, ModelsValuesThatAreAllTheSame) {
  const TuneSpace space = line({"1", "2", "3"});
  Surrogate surrogate(space);
  Random random(1);
  surrogate.fit({surrogate.places(space, 0), surrogate.places(space, 1)}, {5, 5}, random, 10);
  const Prediction there = surrogate.predict(surrogate.alike(surrogate.places(space, 2)));
  EXPECT_NEAR(there.mean, 5, 1e-6);
  EXPECT_TRUE(std::isfinite(there.deviation));
}

}  // namespace
}  // namespace kernelpro
