// What trials, checks and timings keep to where a function asserts something of its sizes.
#include <gmock/gmock.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/task/learn_trials.hpp"

namespace kernelpro {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Pair;

// A function of the sizes m, n, k, lda with that body, and what is known of it.
struct Asserting {
  explicit Asserting(const std::string& body, NewTask wishes = {}) : said(std::move(wishes)) {
    learned.request = said;
    const learn::Asked asked{source, function, call, said};
    const std::string text = "void f(const float* x, int m, int n, int k, int lda) {" + body + "}";
    supposed = learn::asserted(asked, text, learned, axes);
  }

  // As tasks have it.
  Asserting& settled() {
    learn::suppose(supposed, learned, axes);
    return *this;
  }

  std::vector<Axes> drawn() {
    std::mt19937 random(1);
    std::vector<Axes> all;
    for (int i = 0; i < 48; ++i) {
      all.push_back(learn::draw_sizes(random, axes, learned, supposed));
    }
    return all;
  }

  std::set<std::int64_t> sizes_of(const std::string& axis) {
    std::set<std::int64_t> sizes;
    for (const Axes& one : drawn()) {
      sizes.insert(one.at(axis));
    }
    return sizes;
  }

  OwnSource source{"f.cpp", "f", {}, ""};
  OwnFunction function;
  OwnCall call;
  NewTask said;
  Learned learned;
  std::vector<std::string> axes = {"m", "n", "k", "lda"};
  learn::Supposition supposed;
};

NewTask checked(const std::string& axis, AxisRange range) {
  NewTask wishes;
  wishes.held_out[axis] = range;
  return wishes;
}

NewTask timed(const std::string& axis, std::int64_t size) {
  NewTask wishes;
  wishes.sizes[axis] = size;
  return wishes;
}

const std::string rows = "for (int i = 0; i < m; ++i) y[i] = x[i * lda];";

// A signal is no row, and it is longer than its filter by any number.
TEST(LearnAsserted, ASizeThatIsAtLeastAnotherNeedNotBeADistance) {
  Asserting filter("assert(n > k); for (int i = 0; i + k <= n; ++i) y[i] = x[i + k];");
  EXPECT_THAT(filter.supposed.at_least, IsEmpty());
  EXPECT_THAT(filter.learned.at_least, ElementsAre(SizeOrder{"n", "k", true}));
  std::set<std::int64_t> differences;
  for (const Axes& one : filter.drawn()) {
    EXPECT_GT(one.at("n"), one.at("k"));
    differences.insert(one.at("n") - one.at("k"));
  }
  EXPECT_GT(differences.size(), 5U);
  filter.learned.request.held_out = {{"n", {1, 64, 1}}, {"k", {1, 64, 1}}};
  learn::keep_ranges_apart(filter.learned, [](const std::string&) { return false; });
  const auto& ranges = filter.learned.request.held_out;
  EXPECT_GT(ranges.at("n").low, ranges.at("k").high);
  EXPECT_EQ(ranges.at("n").high, 64);
}

TEST(LearnAsserted, ADistanceOfRowsHasRoomBeyondAllThatItIsAtLeast) {
  EXPECT_THAT(Asserting("assert(lda >= n);" + rows).settled().learned.request.derived,
              ElementsAre(Pair("lda", "n + lda_room - 1")));
  EXPECT_THAT(Asserting("assert(lda > n && lda >= k);" + rows).settled().learned.request.derived,
              ElementsAre(Pair("lda", "max(n + 1, k) + lda_room - 1")));
  EXPECT_THAT(Asserting("assert(lda >= n && lda >= 32 && lda % 8 == 0);" + rows)
                  .settled()
                  .learned.request.derived,
              ElementsAre(Pair("lda", "(max(n, 32) + 7)/8*8 + 8*(lda_room - 1)")));
  Asserting bounded("assert(lda >= n && lda <= 100);" + rows);
  EXPECT_EQ(bounded.learned.bounds.at("n").high, 92);
  for (const Axes& one : bounded.settled().drawn()) {
    EXPECT_LE(one.at("lda"), 100);
    EXPECT_GE(one.at("lda"), one.at("n"));
  }
}

TEST(LearnAsserted, WhatTheUserTimesIsKept) {
  const Asserting alone("assert(lda >= n);" + rows, timed("lda", 64));
  EXPECT_THAT(alone.supposed.at_least, IsEmpty());
  EXPECT_EQ(alone.learned.request.sizes.at("lda"), 64);
  const Asserting same("assert(n == k);", timed("k", 64));
  EXPECT_THAT(same.learned.request.sizes, ElementsAre(Pair("n", 64)));
}

TEST(LearnAsserted, SizesThatAreTheSameAreOne) {
  const Asserting chain("assert(m == k); assert(n == k); assert(n % 8 == 0);");
  EXPECT_THAT(chain.learned.request.fixed, ElementsAre(Pair("k", "m"), Pair("n", "m")));
  EXPECT_THAT(chain.axes, ElementsAre("m", "lda"));
  EXPECT_EQ(chain.learned.bounds.at("m").step, 8);
}

// A single size would fit any shape.
TEST(LearnAsserted, WhatIsCheckedDoesNotSayAtWhichSizesItIsTried) {
  EXPECT_GT(Asserting("", checked("n", {8, 8, 1})).sizes_of("n").size(), 5U);
  const auto steps = Asserting("", checked("n", {9, 17, 8})).sizes_of("n");
  EXPECT_GT(steps.size(), 5U);
  for (const std::int64_t size : steps) {
    EXPECT_EQ(size % 8, 1);
  }
}

TEST(LearnAsserted, WhatIsTimedKeepsToAssertsWhateverIsChecked) {
  const Asserting multiples("assert(n % 24 == 0);", checked("n", {24, 48, 24}));
  EXPECT_EQ(learn::allowed(multiples.learned, "n", 1000), 984);
}

TEST(LearnAsserted, OddSizesAreOdd) {
  Asserting odd("assert(k % 2 == 1 && k >= 4);");
  EXPECT_EQ(odd.learned.bounds.at("k").low, 5);
  for (const std::int64_t size : odd.sizes_of("k")) {
    EXPECT_EQ(size % 2, 1);
  }
}

TEST(LearnAsserted, MultiplesOfAnotherStayWithinBounds) {
  Asserting pool("assert(n % k == 0 && n <= 512 && n % 8 == 0);");
  const auto& bounds = pool.settled().learned.bounds;
  EXPECT_LE(bounds.at("k").high * bounds.at("n_per_k").high, 512);
  EXPECT_EQ(bounds.at("n_per_k").step, 8);
  EXPECT_THAT(pool.sizes_of("n"), Each(Le(512)));
}

// Blocks are tried where the bound leaves room for them.
TEST(LearnAsserted, BoundsLeaveSizesOfBlocks) {
  const Asserting large("assert(n >= 100);");
  const auto tried = learn::within_bounds(learn::multiples({"n"}, 64, 1), large.learned);
  EXPECT_THAT(tried.drawn_from.at("n"), ElementsAre(128, 192, 256, 320, 448, 576));
  EXPECT_EQ(tried.held_out.at("n").low, 128);
  const Asserting small("assert(n <= 50);");
  EXPECT_THAT(learn::within_bounds(learn::multiples({"n"}, 64, 1), small.learned).drawn_from,
              IsEmpty());
}

}  // namespace
}  // namespace kernelpro
