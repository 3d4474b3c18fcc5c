#include "coordinator/tune/tuner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>

namespace kernelpro {
namespace {

std::vector<TuneParameter> parameters(std::size_t count, int values) {
  std::vector<TuneParameter> all;
  for (std::size_t i = 0; i < count; ++i) {
    TuneParameter one{"P" + std::to_string(i), {}, i % 3 != 2};
    for (int v = 1; v <= values; ++v) {
      one.values.push_back(std::to_string(8 * v));
    }
    all.push_back(std::move(one));
  }
  return all;
}

// One optimum, which the first two parameters reach in step; some corners fail.
std::optional<double> hill_time(const TuneSpace& space, Code code) {
  double height = 0;
  std::size_t sum = 0;
  for (std::size_t axis = 0; axis < space.axes(); ++axis) {
    const double off = static_cast<double>(space.value(code, axis)) - 3;
    height += 0.1 * off * off;
    sum += space.value(code, axis);
  }
  return sum > 22 ? std::nullopt : std::optional(std::exp(height));
}

double best_after(PointSearch& search, const TuneSpace& space, int evaluations) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < evaluations; ++i) {
    const Code code = search.ask().value();
    const std::optional<double> time = hill_time(space, code);
    best = std::min(best, time.value_or(best));
    search.tell({code, time});
  }
  return best;
}

TEST(TunerTest, FindsAHillsTopWhereDrawsDoNot) {
  const TuneSpace space = TuneSpace::make(parameters(5, 8)).value();
  double tuned = 0;
  double drawn = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Tuner tuner(space, seed);
    UniformDraws draws(space, seed);
    tuned += std::log(best_after(tuner, space, 60));
    drawn += std::log(best_after(draws, space, 60));
  }
  EXPECT_LT(tuned, 0.3 * drawn);
}

TEST(TunerTest, ProposesFewOfWhatIsLikeFailures) {
  // All but the lowest values of the first parameter fail.
  const TuneSpace space = TuneSpace::make(parameters(4, 8)).value();
  Tuner tuner(space, 1);
  UniformDraws draws(space, 1);
  const auto failures = [&space](PointSearch& search) {
    int failed = 0;
    for (int i = 0; i < 40; ++i) {
      const Code code = search.ask().value();
      const bool fails = space.value(code, 0) > 2;
      failed += fails ? 1 : 0;
      search.tell({code, fails
                             ? std::nullopt
                             : std::optional(1 + 0.1 * static_cast<double>(space.value(code, 1) +
                                                                           space.value(code, 3)))});
    }
    return failed;
  };
  EXPECT_LT(failures(tuner), failures(draws) / 2);
}

TEST(TunerTest, IsAFunctionOfItsSeedAndOfWhatItIsTold) {
  const TuneSpace space = TuneSpace::make(parameters(4, 6)).value();
  Tuner one(space, 7);
  Tuner same(space, 7);
  Tuner other(space, 8);
  bool differs = false;
  for (int i = 0; i < 40; ++i) {
    const Code code = one.ask().value();
    EXPECT_EQ(same.ask().value(), code);
    differs = differs || other.ask().value() != code;
    one.tell({code, hill_time(space, code)});
    same.tell({code, hill_time(space, code)});
    other.tell({code, hill_time(space, code)});
  }
  EXPECT_TRUE(differs);
}

TEST(TunerTest, AsksForEveryCodeOnceAndThenForNothing) {
  const TuneSpace space =
      TuneSpace::make(parameters(3, 4), {0, 3, 9, 17, 20, 33, 41, 60, 63, 12}).value();
  for (const bool tuner : {true, false}) {
    std::unique_ptr<PointSearch> search;
    if (tuner) {
      search = std::make_unique<Tuner>(space, 1);
    } else {
      search = std::make_unique<UniformDraws>(space, 1);
    }
    std::set<Code> asked;
    while (const std::optional<Code> code = search->ask()) {
      EXPECT_TRUE(space.admits(*code));
      EXPECT_TRUE(asked.insert(*code).second);
      search->tell({*code, hill_time(space, *code)});
    }
    EXPECT_EQ(asked.size(), space.size());
  }
}

// Any order of asks and tells: late, twice, unasked, senseless, all failures, all the same.
TEST(TunerTest, KeepsItsPromisesWhateverItIsTold) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const TuneSpace space =
        TuneSpace::make(parameters(1 + random.below(5), 1 + static_cast<int>(random.below(6))))
            .value();
    Tuner tuner(space, seed);
    std::set<Code> known;
    std::vector<Code> waiting;
    const bool flat = seed % 3 == 0;
    const bool fails = seed % 5 == 0;
    for (int i = 0; i < 120; ++i) {
      if (random.below(2) == 0) {
        const std::optional<Code> code = tuner.ask();
        EXPECT_EQ(code.has_value(), known.size() < space.size());
        if (code) {
          EXPECT_TRUE(known.insert(*code).second) << "seed " << seed;
          waiting.push_back(*code);
        }
        continue;
      }
      Code code = space.draw(random);
      if (!waiting.empty() && random.below(4) != 0) {
        code = waiting[random.below(waiting.size())];
      }
      const double times[] = {1,
                              1e-9,
                              1e9,
                              0,
                              -1,
                              std::nan(""),
                              std::numeric_limits<double>::infinity(),
                              random.unit()};
      const double time = flat ? 1 : times[random.below(8)];
      const bool sound = std::isfinite(time) && time > 0;
      const bool failed = fails || random.below(5) == 0;
      tuner.tell({code, failed ? std::nullopt : std::optional(time)});
      tuner.tell({space.size() + random.below(9), 1.0});
      if (failed || sound) {
        known.insert(code);
      }
    }
  }
}

TEST(TunerTest, GoesOnBeyondWhatItModels) {
  const TuneSpace space = TuneSpace::make(parameters(5, 8)).value();
  Tuner tuner(space, 3);
  for (Code code = 0; code < 600; ++code) {
    tuner.tell({code * 7, hill_time(space, code * 7).value_or(9)});
  }
  EXPECT_LT(best_after(tuner, space, 10), 3);
}

}  // namespace
}  // namespace kernelpro
