// What timed calls are given: every distribution, and constants to prepare only where there are
// any.
#include <set>

#include "common/base/secret.hpp"
#include "support/keys.hpp"
#include "worker/judge/fixture.hpp"
#include "worker/judge/rounds.hpp"
#include "worker/judge/timed_outputs.hpp"

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using namespace kernelpro::testing;

class TimedValues : public JudgeTest {
 protected:
  [[nodiscard]] Verdict timed(const std::string& source) const {
    EvaluateRequest request;
    request.candidate = small_candidate(source);
    return verdict_on(request);
  }
};

TEST_F(TimedValues, AShortcutForNormalValuesAtTheTimedShapeIsIncorrect) {
  open(small_task("x[i] * y[i]"));
  // Right for all values elsewhere; |x| of normal values is below 4, and that of many others is
  // not. As fast as the baseline: what is clearly slower is not timed for long.
  const Verdict verdict =
      timed(small_source("x[i] * y[i]",
                         "if (n >= 20000) {\n"
                         "  for (int64_t i = 0; i < n; ++i) { out[i] = x[i] * y[i]; }\n"
                         "  for (int64_t i = 0; i < 256; ++i) {\n"
                         "    out[i] = std::fmin(std::fmax(x[i], -4.f), 4.f) * y[i];\n"
                         "  }\n"
                         "  return 0;\n"
                         "}",
                         "#include <cmath>\n"));
  EXPECT_EQ(verdict.outcome, Outcome::incorrect) << verdict.summary;
  EXPECT_EQ(verdict.stage, Stage::timing);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("in a timed round at n=20000")));
}

TEST_F(TimedValues, WhatOverflowsInTheBaselineTooIsNotHeldAgainstACandidate) {
  // exp of large values is infinite, whoever computes it in single precision.
  Task task = small_task();
  task.files["reference.hpp"] =
      "#include <cmath>\n"
      "inline void small(std::int64_t n, const Real* x, const Real* y, Real* out) {\n"
      "  using std::exp;\n"
      "  for (std::int64_t i = 0; i < n; ++i) { out[i] = exp(x[i]) + y[i]; }\n}\n";
  const std::string right = small_source("std::exp(x[i]) + y[i]", "", "#include <cmath>\n");
  task.files["baseline.cpp"] = right;
  open(task);
  const Verdict verdict = timed(right + "// another\n");
  EXPECT_EQ(verdict.outcome, Outcome::passed)
      << verdict.summary << ::testing::PrintToString(verdict.evidence);
}

// The rounds of the small task at `calls` sets and one that is never called.
Rounds rounds_of(const Task& task, Ground& ground, int calls) {
  Result<ShapeBuffers> buffers =
      ShapeBuffers::make(task, ground, {{"n", 100}}, calls + 1, numbered_key(1));
  EXPECT_TRUE(buffers) << buffers.error().text();
  RoundShape shape;
  shape.axes = {{"n", 100}};
  shape.calls = calls;
  return Rounds(task, std::move(*buffers), shape, false);
}

TEST_F(TimedValues, OddPairsHaveEveryDistributionButTheNormalOne) {
  const Task task = small_task();
  const Rounds rounds = rounds_of(task, *ground_, 6);
  std::set<Distribution> first;
  for (std::uint64_t pair = 0; pair < 40; ++pair) {
    std::set<Distribution> drawn;
    for (int set = 0; set < 6; ++set) {
      drawn.insert(rounds.draw(numbered_key(pair), set, true).values.distribution);
    }
    EXPECT_EQ(drawn.size(), 6U);
    EXPECT_FALSE(drawn.contains(Distribution::normal));
    first.insert(rounds.draw(numbered_key(pair), 0, true).values.distribution);
  }
  EXPECT_EQ(first.size(), std::size(all_distributions) - 1)
      << "a round of one set gets each of them sooner or later";
}

// Neither what the other sets hold nor a look at a part of one tells whether a set is spiked.
TEST_F(TimedValues, InSomeOtherPairsOneSetIsSpiked) {
  const Task task = small_task();
  const Rounds rounds = rounds_of(task, *ground_, 6);
  std::set<int> places;
  int pairs = 0;
  for (std::uint64_t pair = 0; pair < 200; ++pair) {
    int spiked = 0;
    for (int set = 0; set < 6; ++set) {
      const Distribution drawn = rounds.draw(numbered_key(pair), set).values.distribution;
      EXPECT_TRUE(drawn == Distribution::normal || drawn == Distribution::spiked);
      if (drawn == Distribution::spiked) {
        ++spiked;
        places.insert(set);
      }
    }
    EXPECT_LE(spiked, 1);
    pairs += spiked;
  }
  EXPECT_GT(pairs, 60);
  EXPECT_LT(pairs, 140);
  EXPECT_EQ(places.size(), 6U);
}

// No call can count on poison, and none on its absence.
TEST_F(TimedValues, InAQuarterOfTheSetsOutputsHoldOtherBytes) {
  std::set<unsigned char> bytes;
  int other = 0;
  for (std::uint64_t pair = 0; pair < 100; ++pair) {
    for (int set = 0; set < 10; ++set) {
      const unsigned char left = Rounds::left_in_outputs(numbered_key(pair), set);
      EXPECT_EQ(left, Rounds::left_in_outputs(numbered_key(pair), set));
      other += left == poison_byte ? 0 : 1;
      bytes.insert(left);
    }
  }
  EXPECT_GT(other, 200);
  EXPECT_LT(other, 300);
  EXPECT_GT(bytes.size(), 100U);
}

TEST_F(TimedValues, EachPairAndSetHasAKeyOfItsOwn) {
  const Task task = small_task();
  const Rounds rounds = rounds_of(task, *ground_, 4);
  std::set<std::string> keys;
  for (std::uint64_t pair = 0; pair < 10; ++pair) {
    for (int set = 0; set < 5; ++set) {
      keys.insert(key_text(rounds.draw(numbered_key(pair), set).values.key));
      EXPECT_EQ(rounds.draw(numbered_key(pair), set).values.key,
                rounds.draw(numbered_key(pair), set, true).values.key);
    }
  }
  EXPECT_EQ(keys.size(), 50U);
}

const std::string prepares = small_source(
    "x[i] + y[i]", "",
    "extern \"C\" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) { return 8; }\n"
    "extern \"C\" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) { return 0; }\n");

TEST_F(TimedValues, PreparingIsRefusedWhereNothingIsConstant) {
  open(small_task());
  const Verdict verdict = verdict_on(untimed(prepares));
  EXPECT_EQ(verdict.outcome, Outcome::launch_failed) << verdict.summary;
  EXPECT_EQ(verdict.rule, "prepare");
  EXPECT_THAT(verdict.summary, HasSubstr("no constant input"));
}

TEST_F(TimedValues, PreparingIsFineWhereAnInputIsConstant) {
  Task task = small_task();
  task.inputs[1].constant = true;
  open(task);
  const Verdict verdict = timed(prepares);
  EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
}

TEST_F(TimedValues, TheSameMasterGivesTheSameKeysAndShapes) {
  open(small_task());
  EvaluateRequest request = untimed(small_source("x[i] + y[i]"));
  request.master = numbered_key(3);
  const Verdict first = verdict_on(request);
  const Verdict again = verdict_on(request);
  ASSERT_EQ(first.outcome, Outcome::passed) << first.summary;
  ASSERT_EQ(first.checks.size(), again.checks.size());
  for (std::size_t i = 0; i < first.checks.size(); ++i) {
    EXPECT_EQ(first.checks[i].key, again.checks[i].key);
    EXPECT_EQ(first.checks[i].shape, again.checks[i].shape);
    EXPECT_EQ(first.checks[i].error, again.checks[i].error);
  }
}

// A second output of two bytes an element: what may be wrong there may not be in the first.
const std::string two_outputs =
    "static unsigned bits(float v) { unsigned u; __builtin_memcpy(&u, &v, 4); return u; }\n"
    "static unsigned short bf16(float v) {\n"
    "  return (unsigned short)((bits(v) + 0x7fff + (bits(v) >> 16 & 1)) >> 16);\n}\n"
    "static float coarse(float v) {\n"
    "  const unsigned u = bits(v) & 0xfffff000; __builtin_memcpy(&v, &u, 4); return v;\n}\n"
    "static long calls;\n";
const std::string write_second =
    "++calls; auto* low = static_cast<unsigned short*>(tensors[3].data);\n"
    "for (int64_t i = 0; i < n; ++i) { low[i] = bf16(x[i]); }";

TEST_F(TimedValues, EachOutputKeepsItsOwnBound) {
  Task task = small_task();
  TensorSpec low = task.outputs.front();
  low.name = "low";
  low.dtype = DType::bf16;
  task.outputs.push_back(low);
  task.reference.call.arguments.emplace_back("low");
  task.files["reference.hpp"] =
      "inline void small(std::int64_t n, const Real* x, const Real* y, Real* out, Real* low) {\n"
      "  for (std::int64_t i = 0; i < n; ++i) { out[i] = x[i] + y[i]; low[i] = x[i]; }\n}\n";
  task.files["baseline.cpp"] = small_source("x[i] + y[i]", write_second, two_outputs);
  open(task);
  EXPECT_EQ(timed(task.files["baseline.cpp"]).outcome, Outcome::passed);
  const Verdict verdict = timed(small_source(
      "n == 20000 && calls > 20 ? coarse(x[i] + y[i]) : x[i] + y[i]", write_second, two_outputs));
  EXPECT_EQ(verdict.outcome, Outcome::incorrect);
  EXPECT_EQ(verdict.stage, Stage::timing);
}

// Which of 40 pairs are looked at.
std::vector<int> sampled(const Key& key, bool by_contract) {
  std::vector<int> places;
  for (int pair = 0; pair < 40; ++pair) {
    if (is_sampled(key, pair, 40, by_contract)) {
      places.push_back(pair);
    }
  }
  return places;
}

TEST(TimedSample, LiesWhereNobodyCanForesee) {
  std::set<int> places;
  for (int i = 0; i < 500; ++i) {
    const std::vector<int> two = sampled(secret_key(), true);
    ASSERT_EQ(two.size(), 2U) << "one in each half";
    ASSERT_LT(two[0], 20);
    ASSERT_GE(two[1], 20);
    places.insert(two.begin(), two.end());
  }
  EXPECT_EQ(places.size(), 40U);
}

TEST(TimedSample, IsLargerWhereALowerPrecisionIsAllowed) {
  EXPECT_EQ(sampled(secret_key(), false).size(), 4U);
}

constexpr std::int64_t one_second_ns = 1'000'000'000;

TEST(DoubtTime, IsAMinuteWhereALookIsShort) {
  DoubtTime doubt;
  doubt.take(one_second_ns, true);
  for (int i = 0; i < 60; ++i) {
    doubt.take(one_second_ns, false);
    EXPECT_FALSE(doubt.passed());
  }
  doubt.take(1, false);
  EXPECT_TRUE(doubt.passed());
}

TEST(DoubtTime, IsTwentyLooksOfOursWhereTheReferenceTakesLong) {
  DoubtTime doubt;
  doubt.take(8 * one_second_ns, true);
  doubt.take(10 * one_second_ns, true);
  for (int i = 0; i < 20; ++i) {
    doubt.take(10 * one_second_ns, false);
    EXPECT_FALSE(doubt.passed());
  }
  doubt.take(one_second_ns, false);
  EXPECT_TRUE(doubt.passed());
}

TEST(DoubtTime, IsNotLongerWhereDoubtsTakeLong) {
  DoubtTime doubt;
  doubt.take(one_second_ns, true);
  doubt.take(61 * one_second_ns, false);
  EXPECT_TRUE(doubt.passed());
}

TEST(DoubtTime, StartsWithTheFirstLookWhereThereIsNoSampleYet) {
  DoubtTime doubt;
  doubt.take(10 * one_second_ns, false);
  doubt.take(100 * one_second_ns, false);
  EXPECT_FALSE(doubt.passed());
  doubt.take(one_second_ns, true);
  EXPECT_TRUE(doubt.passed());
}

}  // namespace
}  // namespace kernelpro
