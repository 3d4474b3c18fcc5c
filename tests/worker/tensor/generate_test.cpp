#include "worker/tensor/generate.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "support/keys.hpp"
#include "support/small_task.hpp"
#include "worker/tensor/compare.hpp"

namespace kernelpro {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Le;
using ::testing::Lt;
using namespace kernelpro::testing;

constexpr std::int64_t many = 400'000;

// The inputs of a task at one shape, drawn anew at will.
class Inputs {
 public:
  Inputs(Task task, const Axes& axes, int sets = 1)
      : task_(std::move(task)),
        plan_(*plan_buffers(task_, axes, sets, Key{})),
        arena_(*Arena::create(plan_.input_bytes(), false)) {}

  void draw(std::uint64_t key, Distribution distribution = Distribution::normal, int set = 0,
            unsigned char slack = poison_byte) {
    fill_inputs(task_, plan_, {&arena_}, set, {numbered_key(key), distribution}, slack);
  }

  void draw_one(std::uint64_t key, std::size_t index) {
    fill_input(task_, plan_, {&arena_}, 0, index, {numbered_key(key)});
  }

  [[nodiscard]] std::vector<double> values(std::size_t index, int set = 0) const {
    const TensorPlan& tensor = plan_.tensors[index];
    return to_doubles(tensor_data(plan_, arena_, set, index), tensor.dtype, tensor.elements);
  }

  [[nodiscard]] const BufferPlan& plan() const { return plan_; }
  [[nodiscard]] const Arena& arena() const { return arena_; }

 private:
  Task task_;
  BufferPlan plan_;
  Arena arena_;
};

Inputs of_type(DType dtype, std::int64_t n = many) {
  Task task = small_task();
  task.inputs[0].dtype = dtype;
  return {task, {{"n", n}}};
}

TEST(WholeNumbers, AreDrawnUniformlyFromTheWholeRange) {
  Task task = small_task();
  task.inputs[0].dtype = DType::i32;
  task.inputs[0].values.kind = ValueKind::uniform;
  task.inputs[0].values.low = -3;
  task.inputs[0].values.high = 4.5;
  Inputs inputs(task, {{"n", 10'000}});
  inputs.draw(5);
  const std::vector<double> drawn = inputs.values(0);
  EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()),
            (std::set<double>{-3, -2, -1, 0, 1, 2, 3, 4}));
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of values around zero.
double mean_product(const std::vector<double>& a, const std::vector<double>& b, std::size_t lag) {
  double sum = 0;
  for (std::size_t i = 0; i + lag < a.size(); ++i) {
    sum += a[i] * b[i + lag];
  }
  return sum / static_cast<double>(a.size() - lag);
}

TEST(Draw, IsAFunctionOfTheKey) {
  Inputs inputs = of_type(DType::f32);
  for (const Distribution distribution : all_distributions) {
    SCOPED_TRACE(name_of(distribution));
    inputs.draw(7, distribution);
    const std::vector<double> first = inputs.values(0);
    inputs.draw(8, distribution);
    EXPECT_NE(inputs.values(0), first);
    inputs.draw(7, distribution);
    EXPECT_EQ(inputs.values(0), first);
  }
}

TEST(Draw, IsTheSameInEverySet) {
  Inputs inputs(small_task(), {{"n", 1000}}, 3);
  inputs.draw(7, Distribution::normal, 0);
  inputs.draw(7, Distribution::normal, 2);
  EXPECT_EQ(inputs.values(1, 0), inputs.values(1, 2));
}

TEST(Draw, OfOneElementDoesNotDependOnHowManyThereAre) {
  Inputs large = of_type(DType::f32);
  Inputs small = of_type(DType::f32, 100'001);
  large.draw(7);
  small.draw(7);
  std::vector<double> prefix = large.values(0);
  prefix.resize(100'001);
  EXPECT_EQ(small.values(0), prefix);
}

TEST(Draw, OfOneInputAloneIsThatOfAllTogether) {
  Inputs inputs = of_type(DType::f32, 1000);
  inputs.draw(7);
  const std::vector<double> x = inputs.values(0);
  const std::vector<double> y = inputs.values(1);
  EXPECT_NE(x, y);
  inputs.draw_one(8, 1);
  EXPECT_EQ(inputs.values(0), x);
  EXPECT_NE(inputs.values(1), y);
  inputs.draw_one(7, 1);
  EXPECT_EQ(inputs.values(1), y);
}

TEST(Draw, RepeatsItselfNowhere) {
  Inputs inputs = of_type(DType::f32);
  inputs.draw(7);
  const std::vector<double> values = inputs.values(0);
  for (const std::size_t lag : {1U, 2U, 16U, 4096U, 65'536U, 131'072U}) {
    EXPECT_LT(std::fabs(mean_product(values, values, lag)), 0.02) << "lag " << lag;
  }
  EXPECT_LT(std::fabs(mean_product(values, inputs.values(1), 0)), 0.02) << "between inputs";
  inputs.draw(8);
  EXPECT_LT(std::fabs(mean_product(values, inputs.values(0), 0)), 0.02) << "between keys";
}

// The elements of all inputs and sets in pieces of eight, each as text.
std::vector<std::string> pieces(const Inputs& inputs, int sets) {
  constexpr std::size_t bytes = 8 * sizeof(float);
  std::vector<std::string> out;
  for (int set = 0; set < sets; ++set) {
    for (std::size_t i = 0; i < inputs.plan().input_count; ++i) {
      const char* data = tensor_data(inputs.plan(), inputs.arena(), set, i);
      for (std::size_t at = 0; at + bytes <= inputs.plan().tensors[i].bytes; at += bytes) {
        out.emplace_back(data + at, bytes);
      }
    }
  }
  return out;
}

TEST(Draw, OfOneSetInputOrRoundHasNothingOfAnother) {
  constexpr int sets = 3;
  Inputs inputs(small_task(), {{"n", 20'000}}, sets);
  std::vector<std::string> seen;
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (int set = 0; set < sets; ++set) {
      inputs.draw(round * sets + static_cast<std::uint64_t>(set), Distribution::normal, set);
    }
    const std::vector<std::string> drawn = pieces(inputs, sets);
    seen.insert(seen.end(), drawn.begin(), drawn.end());
  }
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), seen.size());
}

TEST(Normal, HasMeanZeroAndDeviationOneInEveryFloatingType) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    SCOPED_TRACE(name_of(dtype));
    Inputs inputs = of_type(dtype);
    inputs.draw(7);
    const std::vector<double> values = inputs.values(0);
    EXPECT_NEAR(mean(values), 0, 0.01);
    EXPECT_NEAR(mean_product(values, values, 0), 1, 0.01);
    const auto within = std::count_if(values.begin(), values.end(),
                                      [](double value) { return std::fabs(value) < 1; });
    EXPECT_NEAR(static_cast<double>(within) / many, 0.68, 0.03);
  }
}

TEST(Uniform, FillsItsRangeEvenly) {
  Inputs inputs = of_type(DType::f32);
  inputs.draw(7, Distribution::uniform);
  const std::vector<double> values = inputs.values(0);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -1);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 1);
  EXPECT_NEAR(mean(values), 0, 0.01);
  EXPECT_NEAR(mean_product(values, values, 0), 1.0 / 3, 0.01);
}

TEST(Distributions, ReachLargeAndTinyMagnitudes) {
  for (const auto& [dtype, power] : {std::pair(DType::f32, 12), std::pair(DType::f16, 4)}) {
    SCOPED_TRACE(name_of(dtype));
    Inputs inputs = of_type(dtype);
    inputs.draw(7, Distribution::large);
    std::vector<double> values = inputs.values(0);
    EXPECT_NEAR(std::sqrt(mean_product(values, values, 0)), std::ldexp(1, power),
                std::ldexp(0.01, power));
    inputs.draw(7, Distribution::tiny);
    values = inputs.values(0);
    EXPECT_NEAR(std::sqrt(mean_product(values, values, 0)), std::ldexp(1, -power),
                std::ldexp(0.01, -power));
  }
}

TEST(Distributions, HaveOneValueEverywhere) {
  Inputs inputs = of_type(DType::f32);
  inputs.draw(7, Distribution::constant);
  std::vector<double> values = inputs.values(0);
  EXPECT_NE(values[0], 0);
  EXPECT_THAT(values, Each(values[0]));
}

// Of two inputs one at least: their products are above zero in some sets and below it in others.
TEST(Distributions, HaveAllValuesOfAnInputBelowZero) {
  Inputs inputs(small_task(), {{"n", 1000}});
  std::map<std::pair<bool, bool>, int> below;
  for (std::uint64_t key = 1; key <= 60; ++key) {
    inputs.draw(key, Distribution::negative);
    std::array<bool, 2> negative{};
    for (const std::size_t index : {0U, 1U}) {
      const std::vector<double> values = inputs.values(index);
      negative[index] = values.front() < 0;
      EXPECT_GT(std::fabs(mean(values)), 1000) << "negative is meant to be large";
      for (const double value : values) {
        ASSERT_EQ(value < 0, negative[index]);
      }
    }
    ++below[{negative[0], negative[1]}];
  }
  EXPECT_EQ((below[{false, false}]), 0);
  EXPECT_GT((below[{true, true}]), 10);
  EXPECT_GT((below[{true, false}]) + (below[{false, true}]), 15);
}

// Constants are seen off the clock: they seldom tell of the others.
TEST(Distributions, SpikeFreshInputsForCertainAndConstantsSeldom) {
  Task task = small_task();
  task.inputs[1].constant = true;
  Inputs inputs(task, {{"n", 1000}});
  const auto is_spiked = [&inputs](std::size_t index) {
    const std::vector<double> values = inputs.values(index);
    return std::any_of(values.begin(), values.end(),
                       [](double value) { return std::fabs(value) > 8; });
  };
  int told = 0;
  for (std::uint64_t key = 1; key <= 200; ++key) {
    inputs.draw(key, Distribution::spiked);
    EXPECT_TRUE(is_spiked(0));
    told += is_spiked(1) ? 1 : 0;
  }
  EXPECT_GT(told, 25);
  EXPECT_LT(told, 75);
}

TEST(Distributions, SpikeValuesWithinTheirRange) {
  Task task = small_task();
  task.axes = {{"n", std::nullopt}, {"d", std::nullopt}};
  for (TensorSpec& input : task.inputs) {
    input.shape = {formula("n"), formula("d")};
  }
  task.inputs[0].values.kind = ValueKind::uniform;
  task.inputs[0].values.low = 2;
  task.inputs[0].values.high = 4;
  Inputs inputs(task, {{"n", 100}, {"d", 50}});
  int close = 0;
  for (std::uint64_t key = 1; key <= 40; ++key) {
    inputs.draw(key, Distribution::spiked);
    const std::vector<double> values = inputs.values(0);
    EXPECT_THAT(values, Each(::testing::AllOf(Ge(2), Lt(4))));
    for (std::ptrdiff_t row = 0; row < 100; ++row) {
      const auto [least, most] =
          std::minmax_element(values.begin() + row * 50, values.begin() + (row + 1) * 50);
      close += *most - *least < 0.04 ? 1 : 0;
    }
  }
  EXPECT_GT(close, 20) << "rows near one end of it";
}

// kp_prepare sees the constants of all sets, and must not learn which one is never called.
TEST(Draw, GivesConstantsToSetsThatAreNotCalled) {
  Task task = small_task();
  task.inputs[1].constant = true;
  const Axes axes{{"n", 100}};
  const BufferPlan plan = *plan_buffers(task, axes, 2, Key{});
  const Arena arena = *Arena::create(plan.input_bytes(), false);
  const auto values = [&](int set, std::size_t index) {
    const TensorPlan& tensor = plan.tensors[index];
    return to_doubles(tensor_data(plan, arena, set, index), tensor.dtype, tensor.elements);
  };
  const auto draw = [&](std::uint64_t key) {
    fill_called_sets(task, plan, {&arena},
                     {{numbered_key(key), Distribution::normal, true},
                      {numbered_key(key + 100), Distribution::normal, false}},
                     poison_byte);
  };
  draw(1);
  const std::vector<double> fresh = values(1, 0);
  const std::vector<double> constant = values(1, 1);
  draw(2);
  EXPECT_EQ(values(1, 0), fresh);
  EXPECT_NE(values(1, 1), constant);
}

TEST(Distributions, MixSignsMagnitudesAndZeros) {
  Inputs inputs = of_type(DType::f32);
  inputs.draw(7, Distribution::mixed);
  std::size_t zeros = 0;
  std::size_t negative = 0;
  std::set<int> powers;
  for (const double value : inputs.values(0)) {
    zeros += value == 0 ? 1 : 0;
    negative += value < 0 ? 1 : 0;
    if (value != 0) {
      powers.insert(std::ilogb(value));
    }
  }
  EXPECT_NEAR(static_cast<double>(zeros) / many, 1.0 / 16, 0.005);
  EXPECT_NEAR(static_cast<double>(negative) / many, 15.0 / 32, 0.01);
  EXPECT_LE(*powers.begin(), -12);
  EXPECT_GE(*powers.rbegin(), 11);
}

// So far from zero that a float loses a variance as the difference of two sums, and no farther than
// a type can be with a deviation of one.
TEST(Distributions, ShiftAllInputsOfASetByOneOffset) {
  for (const auto& [dtype, power] :
       {std::pair(DType::f32, 12), std::pair(DType::f16, 9), std::pair(DType::bf16, 7)}) {
    SCOPED_TRACE(name_of(dtype));
    Task task = small_task();
    task.inputs[0].dtype = dtype;
    Inputs inputs(task, {{"n", many}});
    std::set<bool> signs;
    std::set<double> offsets;
    for (std::uint64_t key = 1; key <= 8; ++key) {
      inputs.draw(key, Distribution::shifted);
      const double offset = mean(inputs.values(0));
      EXPECT_GT(std::fabs(offset), std::ldexp(0.99, power));
      EXPECT_LT(std::fabs(offset), std::ldexp(1.01, power + 1));
      EXPECT_NEAR(mean(inputs.values(1)), offset, 0.1) << "another input, another offset";
      std::vector<double> rest = inputs.values(0);
      for (double& value : rest) {
        value -= offset;
      }
      EXPECT_NEAR(std::sqrt(mean_product(rest, rest, 0)), 1, 0.15);
      signs.insert(offset < 0);
      offsets.insert(offset);
    }
    EXPECT_EQ(signs.size(), 2U);
    EXPECT_GE(offsets.size(), 7U);
  }
}

TEST(Distributions, AreFiniteInEveryFloatingType) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    Inputs inputs = of_type(dtype);
    for (const Distribution distribution : all_distributions) {
      inputs.draw(7, distribution);
      const std::vector<double> values = inputs.values(0);
      EXPECT_TRUE(std::all_of(values.begin(), values.end(),
                              [](double value) { return std::isfinite(value); }))
          << name_of(dtype) << " " << name_of(distribution);
    }
  }
}

// Who keeps them as floats has other numbers.
TEST(Distributions, FillAllTheBitsOfADouble) {
  Inputs wide = of_type(DType::f64);
  Inputs narrow = of_type(DType::f32);
  for (const Distribution distribution : all_distributions) {
    SCOPED_TRACE(name_of(distribution));
    wide.draw(7, distribution);
    narrow.draw(7, distribution);
    const std::vector<double> doubles = wide.values(0);
    const std::vector<double> floats = narrow.values(0);
    std::size_t beyond = 0;
    for (std::size_t i = 0; i < doubles.size(); ++i) {
      beyond += doubles[i] != static_cast<double>(static_cast<float>(doubles[i])) ? 1 : 0;
      ASSERT_NEAR(doubles[i], floats[i], std::ldexp(std::fabs(floats[i]), -23));
    }
    EXPECT_GT(beyond, doubles.size() * 9 / 10) << name_of(distribution);
  }
}

// What one input of a set looks like tells nothing of another.
TEST(Distributions, SpikeSomeInputsOfASetAndNotOthers) {
  Inputs inputs(small_task(), {{"n", 1000}});
  const auto is_spiked = [&inputs](std::size_t index) {
    const std::vector<double> values = inputs.values(index);
    return std::any_of(values.begin(), values.end(),
                       [](double value) { return std::fabs(value) > 8; });
  };
  std::map<std::pair<bool, bool>, int> seen;
  for (std::uint64_t key = 1; key <= 200; ++key) {
    inputs.draw(key, Distribution::spiked);
    ++seen[{is_spiked(0), is_spiked(1)}];
  }
  EXPECT_EQ((seen[{false, false}]), 0);
  EXPECT_GT((seen[{true, false}]), 25);
  EXPECT_GT((seen[{false, true}]), 25);
  EXPECT_GT((seen[{true, true}]), 50);
}

// Who computes each row by itself must do so right where one of them lies far from all others.
TEST(Distributions, ShiftSomeRowsOfSpikedInputs) {
  Task task = small_task();
  task.axes = {{"n", std::nullopt}, {"d", std::nullopt}};
  for (TensorSpec& input : task.inputs) {
    input.shape = {formula("n"), formula("d")};
  }
  constexpr std::size_t d = 40;
  Inputs inputs(task, {{"n", 100}, {"d", d}});
  std::map<std::size_t, int> lengths;
  int large_alone = 0;
  int large_too = 0;
  for (std::uint64_t key = 1; key <= 300; ++key) {
    inputs.draw(key, Distribution::spiked);
    const std::vector<double> values = inputs.values(0);
    std::size_t shifted = 0;
    bool large = false;
    for (std::size_t row = 0; row < 100; ++row) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * d);
      const auto far =
          std::count_if(first, first + d, [](double one) { return std::fabs(one) > 4000; });
      EXPECT_TRUE(far <= 4 || far == d) << far;
      shifted += far == d ? 1 : 0;
      large = large || (far > 0 && far != d);
    }
    ++lengths[shifted];
    large_alone += large && shifted == 0 ? 1 : 0;
    large_too += large && shifted > 0 ? 1 : 0;
  }
  EXPECT_GT(lengths[0], 150) << "an input is spiked or not, each by itself";
  EXPECT_GT(large_alone, 60) << "no row tells of them";
  EXPECT_GT(large_too, 20);
  for (const std::size_t length : {2U, 3U, 4U, 5U}) {
    EXPECT_GT(lengths[length], 3) << length;
  }
  EXPECT_EQ(lengths.size(), 5U);
}

// Indices that are all alike meet in one place; those near one end leave out the other.
TEST(Distributions, DrawWholeNumbersFromAPartOfTheirRange) {
  Task task = small_task();
  task.inputs[0].dtype = DType::i32;
  task.inputs[0].values.kind = ValueKind::index;
  task.inputs[0].values.bound = formula("640");
  Inputs inputs(task, {{"n", 1000}});
  const auto ends = [&inputs](Distribution distribution) {
    inputs.draw(7, distribution);
    const std::vector<double> values = inputs.values(0);
    return std::pair(*std::min_element(values.begin(), values.end()),
                     *std::max_element(values.begin(), values.end()));
  };
  EXPECT_EQ(ends(Distribution::tiny), std::pair(0.0, 9.0));
  EXPECT_EQ(ends(Distribution::large), std::pair(630.0, 639.0));
  const auto [least, most] = ends(Distribution::constant);
  EXPECT_EQ(least, most);
  const auto [low, high] = ends(Distribution::shifted);
  EXPECT_EQ(high - low, 9.0);
  for (const Distribution distribution : {Distribution::normal, Distribution::mixed}) {
    EXPECT_GT(ends(distribution).second - ends(distribution).first, 600) << name_of(distribution);
  }
}

TEST(Distributions, StayInTheRangeThatATaskDeclares) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Task task = small_task();
    task.inputs[0].dtype = dtype;
    task.inputs[0].values.kind = ValueKind::uniform;
    task.inputs[0].values.low = 2;
    task.inputs[0].values.high = 5;
    Inputs inputs(task, {{"n", many}});
    for (const Distribution distribution : all_distributions) {
      inputs.draw(7, distribution);
      const std::vector<double> values = inputs.values(0);
      EXPECT_GE(*std::min_element(values.begin(), values.end()), 2) << name_of(distribution);
      EXPECT_LE(*std::max_element(values.begin(), values.end()), 5) << name_of(distribution);
    }
  }
}

TEST(Slack, AroundInputsHoldsWhatIsAskedFor) {
  Inputs inputs = of_type(DType::f32, 1001);
  inputs.draw(7, Distribution::normal, 0, 0x7e);
  for (std::size_t index = 0; index < 2; ++index) {
    const TensorPlan& tensor = inputs.plan().tensors[index];
    const char* data = tensor_data(inputs.plan(), inputs.arena(), 0, index);
    const char* region = data - tensor.data_offset;
    EXPECT_TRUE(std::all_of(region, data, [](char byte) { return byte == 0x7e; }));
    EXPECT_TRUE(std::all_of(data + tensor.bytes, region + tensor.region_bytes,
                            [](char byte) { return byte == 0x7e; }));
  }
}

TEST(Indices, LieBelowTheirBoundAndReachAllOfIt) {
  for (const DType dtype : {DType::i64, DType::i32, DType::i16, DType::i8, DType::u8}) {
    Task task = small_task();
    task.inputs[0].dtype = dtype;
    task.inputs[0].values.kind = ValueKind::index;
    task.inputs[0].values.bound = formula("37");
    Inputs inputs(task, {{"n", 10'000}});
    inputs.draw(7, Distribution::negative);
    std::set<double> seen;
    for (const double value : inputs.values(0)) {
      seen.insert(value);
    }
    EXPECT_EQ(seen.size(), 37U) << name_of(dtype);
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), 36);
  }
}

// A sparse matrix: columns first, so that their rows must be drawn before them all the same.
Task sparse_task() {
  Task task = small_task();
  task.axes = {{"rows", std::nullopt}, {"cols", std::nullopt}, {"nnz", std::nullopt}};
  task.inputs[0].name = "columns";
  task.inputs[0].dtype = DType::i32;
  task.inputs[0].shape = {formula("nnz")};
  task.inputs[0].values.kind = ValueKind::csr_columns;
  task.inputs[0].values.bound = formula("cols");
  task.inputs[0].values.rows_of = "offsets";
  task.inputs[1].name = "offsets";
  task.inputs[1].dtype = DType::i64;
  task.inputs[1].shape = {formula("rows+1")};
  task.inputs[1].values.kind = ValueKind::offsets;
  task.inputs[1].values.bound = formula("nnz");
  task.outputs[0].shape = {formula("rows")};
  return task;
}

void expect_sparse(const Axes& axes, Distribution distribution) {
  Inputs inputs(sparse_task(), axes);
  inputs.draw(7, distribution);
  const std::vector<double> columns = inputs.values(0);
  const std::vector<double> offsets = inputs.values(1);
  EXPECT_EQ(offsets.front(), 0);
  EXPECT_EQ(offsets.back(), static_cast<double>(axes.at("nnz")));
  ASSERT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(offsets[row]);
    const auto last = columns.begin() + static_cast<std::ptrdiff_t>(offsets[row + 1]);
    // No column is followed by one that is not greater.
    ASSERT_EQ(std::adjacent_find(first, last, [](double a, double b) { return a >= b; }), last)
        << "row " << row;
  }
  for (const double column : columns) {
    ASSERT_GE(column, 0);
    ASSERT_LT(column, static_cast<double>(axes.at("cols")));
  }
}

TEST(SparseMatrix, HasRowsOfSortedDistinctColumnsUnderEveryDistribution) {
  for (const Distribution distribution : all_distributions) {
    expect_sparse({{"rows", 500}, {"cols", 300}, {"nnz", 7000}}, distribution);
    expect_sparse({{"rows", 9}, {"cols", 40}, {"nnz", 324}}, distribution);
    expect_sparse({{"rows", 200}, {"cols", 64}, {"nnz", 9600}}, distribution);
    expect_sparse({{"rows", 5}, {"cols", 7}, {"nnz", 35}}, distribution);
  }
  for (const Distribution ragged : {Distribution::large, Distribution::spiked}) {
    expect_sparse({{"rows", 1}, {"cols", 100}, {"nnz", 30}}, ragged);
    expect_sparse({{"rows", 9}, {"cols", 40}, {"nnz", 108}}, ragged);
    expect_sparse({{"rows", 50'000}, {"cols", 50'000}, {"nnz", 400'000}}, ragged);
  }
  expect_sparse({{"rows", 1}, {"cols", 100}, {"nnz", 30}}, Distribution::normal);
  expect_sparse({{"rows", 1000}, {"cols", 2}, {"nnz", 900}}, Distribution::normal);
  expect_sparse({{"rows", 50'000}, {"cols", 50'000}, {"nnz", 400'000}}, Distribution::normal);
}

std::vector<double> row_lengths(const Inputs& inputs, std::size_t index) {
  const std::vector<double> offsets = inputs.values(index);
  std::vector<double> lengths(offsets.size());
  std::adjacent_difference(offsets.begin(), offsets.end(), lengths.begin());
  lengths.erase(lengths.begin());
  return lengths;
}

TEST(SparseMatrix, HasEvenRowsAsARule) {
  Inputs inputs(sparse_task(), {{"rows", 10'000}, {"cols", 5000}, {"nnz", 160'000}});
  inputs.draw(7);
  EXPECT_THAT(row_lengths(inputs, 1), Each(::testing::AllOf(Ge(7), Le(25))));
}

TEST(SparseMatrix, HasSomeEmptyAndSomeLongRowsWhereItIsSpiked) {
  Inputs inputs(sparse_task(), {{"rows", 10'000}, {"cols", 5000}, {"nnz", 160'000}});
  std::ptrdiff_t empty = 0;
  std::ptrdiff_t longer = 0;
  for (std::uint64_t key = 1; key <= 10; ++key) {
    inputs.draw(key, Distribution::spiked);
    const std::vector<double> lengths = row_lengths(inputs, 1);
    empty += std::count(lengths.begin(), lengths.end(), 0);
    longer += std::count_if(lengths.begin(), lengths.end(), [](double one) { return one > 32; });
    EXPECT_THAT(lengths, Each(Le(200)));
  }
  EXPECT_GE(empty, 15);
  EXPECT_LE(empty, 90);
  EXPECT_GE(longer, 15);
  EXPECT_LE(longer, 90);
}

TEST(SparseMatrix, IsRaggedUnderSomeDistributions) {
  Inputs inputs(sparse_task(), {{"rows", 10'000}, {"cols", 5000}, {"nnz", 160'000}});
  for (const Distribution distribution :
       {Distribution::large, Distribution::mixed, Distribution::shifted}) {
    std::ptrdiff_t most_empty = 0;
    for (std::uint64_t key = 1; key <= 8; ++key) {
      inputs.draw(key, distribution);
      const std::vector<double> lengths = row_lengths(inputs, 1);
      EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), 64 * 16)
          << name_of(distribution);
      most_empty = std::max(most_empty, std::count(lengths.begin(), lengths.end(), 0));
    }
    EXPECT_GT(most_empty, 4000) << name_of(distribution);
  }
}

// Few groups, as tokens have experts: one of them may get nearly all.
TEST(Groups, MayHaveNearlyAllInOne) {
  Task task = sparse_task();
  task.inputs[0].values.kind = ValueKind::normal;
  task.inputs[0].dtype = DType::f32;
  Inputs inputs(task, {{"rows", 8}, {"cols", 1}, {"nnz", 128}});
  double longest = 0;
  for (std::uint64_t key = 1; key <= 20; ++key) {
    inputs.draw(key, Distribution::mixed);
    const std::vector<double> lengths = row_lengths(inputs, 1);
    const double most = *std::max_element(lengths.begin(), lengths.end());
    EXPECT_GE(most, 63);
    longest = std::max(longest, most);
  }
  EXPECT_GT(longest, 110);
}

// Nothing follows from an entry's place in its row: not where it lies, nor how far from the next.
TEST(SparseMatrix, HasColumnsAtIrregularDistances) {
  constexpr double cols = 5000;
  Inputs inputs(sparse_task(), {{"rows", 10'000}, {"cols", 5000}, {"nnz", 160'000}});
  inputs.draw(7);
  const std::vector<double> columns = inputs.values(0);
  const std::vector<double> offsets = inputs.values(1);
  int in_strips = 0;
  int crowded = 0;
  int beside = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const auto length = static_cast<std::size_t>(offsets[row + 1] - offsets[row]);
    const double* own = columns.data() + static_cast<std::size_t>(offsets[row]);
    const double strip = cols / static_cast<double>(length);
    bool even = true;
    for (std::size_t j = 0; j < length; ++j) {
      even = even && std::fabs(own[j] - (static_cast<double>(j) + 0.5) * strip) <= strip / 2 + 1;
      beside += j > 0 && own[j] == own[j - 1] + 1 ? 1 : 0;
    }
    in_strips += even ? 1 : 0;
    crowded += own[length - 1] - own[0] <= 2 * static_cast<double>(length) ? 1 : 0;
  }
  EXPECT_LT(in_strips, 500);
  EXPECT_NEAR(crowded, 1250, 200);
  EXPECT_GT(beside, 5000);
}

// Who leaves out the first or the last column computes something else.
TEST(SparseMatrix, HasEntriesInItsFirstAndLastColumns) {
  for (const std::int64_t cols : {3, 40, 5000}) {
    Inputs inputs(sparse_task(), {{"rows", 10'000}, {"cols", cols}, {"nnz", 20'000}});
    inputs.draw(7);
    const std::vector<double> columns = inputs.values(0);
    EXPECT_GE(std::count(columns.begin(), columns.end(), 0), 1) << cols;
    EXPECT_GE(std::count(columns.begin(), columns.end(), static_cast<double>(cols - 1)), 1) << cols;
  }
}

TEST(SparseMatrix, HasAnotherStructureForAnotherKey) {
  Inputs inputs(sparse_task(), {{"rows", 500}, {"cols", 300}, {"nnz", 7000}});
  inputs.draw(7);
  const std::vector<double> columns = inputs.values(0);
  const std::vector<double> offsets = inputs.values(1);
  inputs.draw(8);
  EXPECT_NE(inputs.values(0), columns);
  EXPECT_NE(inputs.values(1), offsets);
}

}  // namespace
}  // namespace kernelpro
