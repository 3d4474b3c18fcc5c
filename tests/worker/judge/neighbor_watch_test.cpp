// Which of many calls errs unlike the others, by what lies in both arms' outputs.
#include "worker/judge/neighbor_watch.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>

#include "support/keys.hpp"
#include "support/small_task.hpp"
#include "worker/judge/host_ground.hpp"
#include "worker/tensor/lower.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace kernelpro::testing;

constexpr int set_count = 6;
constexpr std::int64_t elements = 20000;

class Neighbors : public ::testing::Test {
 protected:
  Neighbors() {
    for (int set = 0; set < set_count; ++set) {
      write(set, [](std::int64_t, float right) { return rounded_to(Lower::bf16, right); });
    }
  }

  // The incumbent's outputs are normal values, and the candidate's what `errs` makes of them.
  template <typename Errs>
  void write(int set, const Errs& errs) {
    std::mt19937 random(static_cast<unsigned>(set));
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < elements; ++i) {
      const float right = normal(random);
      store(Side::incumbent, set, i, right);
      store(Side::candidate, set, i, errs(i, right));
    }
  }

  [[nodiscard]] std::vector<int> conspicuous(std::uint64_t pair) {
    return watch_.conspicuous(numbered_key(pair), {0, 1, 2, 3, 4, 5});
  }

 private:
  // As the arms' processes do, which map the same memory.
  void store(Side side, int set, std::int64_t i, float value) {
    const BufferPlan& plan = buffers_.plan();
    const TensorPlan& tensor = plan.tensors[plan.input_count];
    const char* data = buffers_.memory->output_regions(side, set) + tensor.region_offset +
                       tensor.data_offset + static_cast<std::size_t>(i) * sizeof value;
    std::memcpy(const_cast<char*>(data), &value, sizeof value);
  }

  [[nodiscard]] ShapeBuffers lay_out() {
    Result<ShapeBuffers> made =
        ShapeBuffers::make(task_, *ground_, {{"n", elements}}, set_count, numbered_key(1));
    return made ? std::move(*made) : throw std::runtime_error(made.error().text());
  }

  const Task task_ = small_task();
  const std::unique_ptr<Ground> ground_ = make_host_ground(1 << 20, {});
  const ShapeBuffers buffers_ = lay_out();

 protected:
  NeighborWatch watch_{buffers_};
};

float in_bf16(float value) {
  return rounded_to(Lower::bf16, value);
}

TEST_F(Neighbors, RoundingIsAlikeInAllCalls) {
  for (std::uint64_t pair = 0; pair < 20; ++pair) {
    EXPECT_THAT(conspicuous(pair), IsEmpty());
  }
}

TEST_F(Neighbors, ACallWhoseErrorsRowsShareIsConspicuous) {
  // A factor that 500 neighbors have in common, and no more than bfloat16 would forgive.
  write(4, [](std::int64_t i, float right) {
    return in_bf16(right * (i / 500 % 2 == 0 ? 1.008F : 0.992F));
  });
  for (std::uint64_t pair = 0; pair < 20; ++pair) {
    EXPECT_THAT(conspicuous(pair), ElementsAre(4));
  }
}

TEST_F(Neighbors, WhereAFewRowsOfACallShareAnErrorItIsFoundToo) {
  write(2, [](std::int64_t i, float right) {
    return i / 500 % 8 == 0 ? right * 1.02F : in_bf16(right);
  });
  EXPECT_THAT(conspicuous(1), ElementsAre(2));
}

TEST_F(Neighbors, WhatWasFoundRightIsNoLongerConspicuous) {
  write(4, [](std::int64_t, float right) { return in_bf16(right * 1.008F); });
  EXPECT_THAT(conspicuous(1), ElementsAre(4));
  watch_.found_right(4);
  EXPECT_THAT(conspicuous(1), IsEmpty());
}

TEST_F(Neighbors, EqualOutputsHaveNothingInCommon) {
  for (int set = 0; set < set_count; ++set) {
    write(set, [](std::int64_t, float right) { return right; });
  }
  EXPECT_THAT(conspicuous(1), IsEmpty());
}

}  // namespace
}  // namespace kernelpro
