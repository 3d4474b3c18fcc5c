// How the GPU's ground compares outputs: as the CPU does.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "gpu/device_buffers.hpp"
#include "worker/tensor/change.hpp"
#include "worker/tensor/compare.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using namespace kernelpro::testing;

// What the incumbent wrote, and what the candidate did.
struct Outputs {
  std::vector<float> truth;
  std::vector<float> actual;
};

Outputs slightly_different() {
  Outputs out;
  out.truth.resize(1001);
  std::iota(out.truth.begin(), out.truth.end(), -300.0F);
  out.actual = out.truth;
  out.actual[17] *= 1.0F + 1e-5F;
  out.actual[640] += 0.25F;
  return out;
}

TensorError host_error(const Outputs& outputs) {
  const std::vector<double> expected(outputs.truth.begin(), outputs.truth.end());
  return compare_floating(reinterpret_cast<const char*>(outputs.actual.data()), DType::f32,
                          expected.data(), rms(expected.data(), expected.size()), expected.size(),
                          nullptr);
}

TensorError device_error(const Buffers& sets, const Outputs& outputs) {
  sets.write(1, outputs.truth, Side::incumbent);
  sets.write(1, outputs.actual, Side::candidate);
  return sets.memory().errors_to(Side::incumbent, 1).front();
}

TEST_F(GpuGround, MeasuresErrorsAsTheCpuDoes) {
  const Buffers sets = stream_buffers();
  const Outputs outputs = slightly_different();
  const TensorError ours = device_error(sets, outputs);
  const TensorError theirs = host_error(outputs);
  EXPECT_NEAR(ours.error, theirs.error, 1e-12);
  EXPECT_EQ(ours.worst, theirs.worst);
  EXPECT_EQ(ours.actual, theirs.actual);
  EXPECT_EQ(ours.expected, theirs.expected);
  EXPECT_EQ(ours.poisoned, 0);
}

TEST_F(GpuGround, FindsPoisonAndWhatIsNotFinite) {
  const Buffers sets = stream_buffers();
  Outputs outputs = slightly_different();
  std::memset(&outputs.actual[1000], poison_byte, sizeof(float));
  TensorError error = device_error(sets, outputs);
  EXPECT_EQ(error.poisoned, 1);
  EXPECT_EQ(error.worst, 1000);
  EXPECT_TRUE(std::isinf(error.error));
  outputs.actual[1000] = INFINITY;
  error = device_error(sets, outputs);
  EXPECT_EQ(error.poisoned, 0);
  EXPECT_EQ(error.worst, 1000);
  EXPECT_TRUE(std::isinf(error.error));
}

TEST_F(GpuGround, SeesWhereTwoSidesDisagreeWhicheverIsWrong) {
  const Buffers sets = stream_buffers(3);
  const std::vector<double> bounds = {1e-6};
  const std::vector<float> right(1001, 1.0F);
  std::vector<float> unwritten = right;
  std::memset(&unwritten[500], poison_byte, sizeof(float));
  std::vector<float> infinite = right;
  infinite[500] = INFINITY;
  std::vector<float> wrong = right;
  wrong[500] = 1.001F;
  for (const std::vector<float>& bad : {unwritten, infinite, wrong}) {
    for (const Side wrong_side : both_sides) {
      SCOPED_TRACE(std::to_string(bad[500]));
      for (const Side side : both_sides) {
        sets.write(0, right, side);
        sets.write(1, side == wrong_side ? bad : right, side);
      }
      EXPECT_THAT(sets.memory().disagreeing({0, 1}, bounds), ElementsAre(1));
    }
  }
  EXPECT_TRUE(sets.memory().health());
}

TEST_F(GpuGround, ComparesRepeatsBitByBitOrWithinABound) {
  const Buffers sets = stream_buffers();
  std::vector<float> values(1001, 1.0F);
  sets.write(0, values);
  values[1000] = std::nextafter(1.0F, 2.0F);
  sets.write(1, values);
  EXPECT_FALSE(sets.memory().same_output(Side::candidate, 0, 1, 0, 0));
  EXPECT_TRUE(sets.memory().same_output(Side::candidate, 0, 1, 0, 1e-6));
  EXPECT_FALSE(sets.memory().same_output(Side::candidate, 0, 1, 0, 1e-9));
}

TEST_F(GpuGround, TakesNoDifferentLabelForATie) {
  const Buffers sets = buffers(nearest_task(), {{"n", 4000}, {"k", 3}}, 1);
  const std::size_t output = sets.plan().input_count;
  const std::size_t begin = sets.plan().tensors[output].data_offset;
  std::vector<std::int32_t> labels(4000, 1);
  const auto write = [&](Side side) {
    sets.window(0, output, side).write(begin, labels.data(), labels.size() * sizeof(std::int32_t));
    sets.memory().take(side, {0});
  };
  write(Side::incumbent);
  write(Side::candidate);
  EXPECT_EQ(sets.memory().errors_to(Side::incumbent, 0).front().error, 0);
  labels[7] = 2;
  write(Side::candidate);
  const TensorError error = sets.memory().errors_to(Side::incumbent, 0).front();
  EXPECT_TRUE(std::isinf(error.error));
  EXPECT_EQ(error.worst, 7);
  std::int32_t read[2] = {};
  sets.memory().read_output(Side::candidate, 0, 0, 7 * sizeof(std::int32_t), sizeof read,
                            reinterpret_cast<char*>(read));
  EXPECT_THAT(read, ElementsAre(2, 1));
}

// As worker/tensor/lower.hpp rounds, which has tests of its own.
TEST_F(GpuGround, RoundsInputsAsTheCpuDoesAndDrawsThemAgain) {
  const Buffers sets = stream_buffers();
  const auto read = [&] {
    std::vector<float> values(1001);
    sets.memory().read_input(1, 0, 0, values.size() * sizeof(float),
                             reinterpret_cast<char*>(values.data()));
    return values;
  };
  for (const Distribution distribution : {Distribution::normal, Distribution::tiny}) {
    sets.draw({1, 2}, distribution);
    const std::vector<float> drawn = read();
    for (const Lower lower : {Lower::tf32, Lower::tf32_cut, Lower::f16, Lower::bf16}) {
      SCOPED_TRACE(static_cast<int>(lower));
      std::vector<float> expected = drawn;
      round_values(reinterpret_cast<char*>(expected.data()), DType::f32, expected.size(), lower);
      sets.memory().round_inputs(lower);
      EXPECT_EQ(read(), expected);
      sets.memory().draw_again();
      EXPECT_EQ(read(), drawn);
    }
  }
  EXPECT_TRUE(sets.memory().health());
}

}  // namespace
}  // namespace kernelpro
