// The two sides of memory on the CPU, seen as a runner sees them: by descriptor.
#include "worker/judge/host_memory.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "common/base/memory.hpp"
#include "support/keys.hpp"
#include "support/small_task.hpp"
#include "worker/judge/host_ground.hpp"
#include "worker/tensor/change.hpp"

namespace kernelpro {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace kernelpro::testing;

constexpr int sets = 3;

class TwoSides : public ::testing::Test {
 protected:
  void lay_out(const Task& task, std::int64_t n = 5000) {
    task_ = task;
    Result<BufferPlan> plan = plan_buffers(task_, {{"n", n}}, sets, Key{});
    ASSERT_TRUE(plan) << plan.error().text();
    plan_ = std::move(*plan);
    Result<std::unique_ptr<SetMemory>> memory = make_host_memory(task_, plan_, 1 << 20, nullptr);
    ASSERT_TRUE(memory) << memory.error().text();
    memory_ = std::move(*memory);
  }

  void draw(std::uint64_t first = 1, Distribution distribution = Distribution::normal) {
    std::vector<SetDraw> draws;
    for (std::uint64_t set = 0; set < sets; ++set) {
      draws.push_back({numbered_key(first + set), distribution});
    }
    memory_->draw(draws, poison_byte);
  }

  // The data of a tensor as the runner of that side maps it.
  [[nodiscard]] std::string data(Side side, int set, std::size_t index) const {
    const TensorPlan& tensor = plan_.tensors[index];
    const int descriptor = memory_->descriptors(side).at(tensor.output ? 1 : 0);
    const std::size_t bytes = tensor.output ? plan_.output_bytes() : plan_.input_bytes();
    const std::size_t stride = tensor.output ? plan_.output_stride : plan_.input_stride;
    void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    std::string out(static_cast<const char*>(mapped) + static_cast<std::size_t>(set) * stride +
                        tensor.region_offset + tensor.data_offset,
                    tensor.bytes);
    munmap(mapped, bytes);
    return out;
  }

  // Writes an output as the runner of that side would.
  void write(Side side, int set, float value) {
    const TensorPlan& tensor = plan_.tensors[plan_.input_count];
    void* mapped = mmap(nullptr, plan_.output_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
                        memory_->descriptors(side).at(1), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    auto* values = reinterpret_cast<float*>(static_cast<char*>(mapped) +
                                            static_cast<std::size_t>(set) * plan_.output_stride +
                                            tensor.region_offset + tensor.data_offset);
    std::fill(values, values + tensor.elements, value);
    munmap(mapped, plan_.output_bytes());
    memory_->take(side, {static_cast<std::uint16_t>(set)});
  }

  Task task_;
  BufferPlan plan_;
  std::unique_ptr<SetMemory> memory_;
};

TEST_F(TwoSides, HaveTheSameInputs) {
  lay_out(small_task());
  draw();
  std::set<std::string> seen;
  for (int set = 0; set < sets; ++set) {
    for (std::size_t input = 0; input < plan_.input_count; ++input) {
      EXPECT_EQ(data(Side::candidate, set, input), data(Side::incumbent, set, input));
      seen.insert(data(Side::candidate, set, input));
    }
  }
  EXPECT_EQ(seen.size(), sets * plan_.input_count) << "no two sets or inputs are the same";
}

TEST_F(TwoSides, SetsThatAreNotCalledStayAsTheyAre) {
  lay_out(small_task());
  draw(1);
  const std::string before = data(Side::candidate, 1, 0);
  std::vector<SetDraw> draws;
  for (std::uint64_t set = 0; set < sets; ++set) {
    draws.push_back({numbered_key(7 + set), Distribution::normal, set != 1});
  }
  memory_->draw(draws, poison_byte);
  EXPECT_EQ(data(Side::candidate, 1, 0), before);
  draw(7);
  EXPECT_NE(data(Side::candidate, 1, 0), before);
  const std::string all = data(Side::candidate, 2, 0);
  draw(1);
  memory_->draw(draws, poison_byte);
  EXPECT_EQ(data(Side::candidate, 2, 0), all) << "what is called is drawn as with the others";
  EXPECT_EQ(data(Side::incumbent, 2, 0), all);
}

TEST_F(TwoSides, ShareNoDescriptorAndNoFile) {
  lay_out(small_task());
  std::set<int> descriptors;
  std::set<ino_t> files;
  std::size_t count = 0;
  for (const Side side : both_sides) {
    for (const int descriptor : memory_->descriptors(side)) {
      struct stat status = {};
      ASSERT_EQ(fstat(descriptor, &status), 0);
      descriptors.insert(descriptor);
      files.insert(status.st_ino);
      ++count;
    }
  }
  EXPECT_EQ(count, 4U);
  EXPECT_EQ(descriptors.size(), count);
  EXPECT_EQ(files.size(), count);
}

TEST_F(TwoSides, WriteOutputsOfTheirOwn) {
  lay_out(small_task());
  for (const Side side : both_sides) {
    memory_->poison_outputs(side);
  }
  write(Side::candidate, 1, 2.5F);
  const std::string other = data(Side::incumbent, 1, plan_.input_count);
  EXPECT_TRUE(is_poison(other.data(), other.size()));
  EXPECT_FALSE(memory_->touched(Side::candidate, {1}).uncalled_set);
  EXPECT_EQ(memory_->touched(Side::candidate, {0}).uncalled_set, 1);
  EXPECT_FALSE(memory_->touched(Side::incumbent, {}).uncalled_set);
}

TEST_F(TwoSides, AreComparedSetBySet) {
  lay_out(small_task());
  for (const Side side : both_sides) {
    for (int set = 0; set < sets; ++set) {
      write(side, set, 1.0F);
    }
  }
  EXPECT_THAT(memory_->disagreeing({0, 1, 2}, {1e-6}), IsEmpty());
  write(Side::candidate, 2, 1.001F);
  EXPECT_THAT(memory_->disagreeing({0, 1, 2}, {1e-6}), ElementsAre(2));
  EXPECT_THAT(memory_->disagreeing({0, 1, 2}, {1e-2}), IsEmpty());
  // Relative to the value and to the size of all of them together.
  EXPECT_NEAR(memory_->errors_to(Side::incumbent, 2).front().error, 5e-4, 1e-5);
}

Task task_with_constant() {
  Task task = small_task();
  task.inputs[0].constant = true;
  return task;
}

TEST_F(TwoSides, OneSideSeesItsConstantsAloneUntilItIsMadeReady) {
  lay_out(task_with_constant());
  draw();
  const std::string x = data(Side::candidate, 1, 0);
  const std::string y = data(Side::candidate, 1, 1);
  memory_->give_constants(Side::candidate);
  EXPECT_EQ(data(Side::candidate, 1, 0), x);
  const std::string hidden = data(Side::candidate, 1, 1);
  EXPECT_TRUE(is_poison(hidden.data(), hidden.size()));
  EXPECT_EQ(data(Side::incumbent, 1, 1), y) << "the other side keeps its own";
  memory_->make_ready(Side::candidate, Caches::any);
  EXPECT_EQ(data(Side::candidate, 1, 1), y);
}

// By how many steps of the type each element has moved, away from zero.
template <typename Bits>
std::vector<std::int64_t> steps(const std::string& before, const std::string& after) {
  std::vector<std::int64_t> out;
  for (std::size_t at = 0; at + sizeof(Bits) <= before.size(); at += sizeof(Bits)) {
    Bits from = 0;
    Bits to = 0;
    std::memcpy(&from, before.data() + at, sizeof from);
    std::memcpy(&to, after.data() + at, sizeof to);
    const bool zero = static_cast<Bits>(from << 1U) == 0;
    out.push_back(zero ? (from == to ? 1 : 99) : static_cast<std::int64_t>(to - from));
  }
  return out;
}

template <typename Bits>
void expect_single_steps(const std::string& before, const std::string& after) {
  const std::vector<std::int64_t> moved = steps<Bits>(before, after);
  const auto down = static_cast<std::int64_t>(static_cast<Bits>(~Bits{0}));
  EXPECT_THAT(moved, Each(AnyOf(1, -1, down)));
  EXPECT_THAT(moved, Contains(1));
  EXPECT_THAT(moved, Contains(AnyOf(-1, down)));
}

TEST_F(TwoSides, ANudgeMovesEachFloatByOneRoundingAndLeavesZeros) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    SCOPED_TRACE(name_of(dtype));
    Task task = small_task();
    task.inputs[0].dtype = dtype;
    task.inputs[1].dtype = DType::i32;
    task.inputs[1].values.kind = ValueKind::index;
    task.inputs[1].values.bound = formula("1000");
    lay_out(task);
    draw(1, Distribution::mixed);  // one element in sixteen is zero
    const std::string floats = data(Side::candidate, 2, 0);
    const std::string whole = data(Side::candidate, 2, 1);
    memory_->nudge(numbered_key(9), 1);
    const std::string nudged = data(Side::candidate, 2, 0);
    switch (size_of(dtype)) {
      case 8:
        expect_single_steps<std::uint64_t>(floats, nudged);
        break;
      case 4:
        expect_single_steps<std::uint32_t>(floats, nudged);
        break;
      default:
        expect_single_steps<std::uint16_t>(floats, nudged);
    }
    EXPECT_EQ(data(Side::incumbent, 2, 0), nudged) << "both sides alike";
    EXPECT_EQ(data(Side::candidate, 2, 1), whole) << "whole numbers stay";
  }
}

TEST_F(TwoSides, InputsAreRoundedOnBothSidesUntilTheyAreDrawnAgain) {
  lay_out(task_with_constant());
  draw();
  const std::string drawn = data(Side::incumbent, 2, 1);
  std::string expected = drawn;
  round_values(expected.data(), DType::f32, 5000, Lower::bf16);
  ASSERT_NE(expected, drawn);
  memory_->round_inputs(Lower::bf16);
  for (const Side side : both_sides) {
    EXPECT_EQ(data(side, 2, 1), expected);
  }
  memory_->give_constants(Side::candidate);
  memory_->make_ready(Side::candidate, Caches::any);
  EXPECT_EQ(data(Side::candidate, 2, 1), expected);
  memory_->draw_again();
  for (const Side side : both_sides) {
    EXPECT_EQ(data(side, 2, 1), drawn);
  }
}

TEST_F(TwoSides, PartsOfInputsAndOutputsAreRead) {
  lay_out(task_with_constant());
  draw();
  std::string part(40, '\0');
  memory_->read_input(1, 1, 400, part.size(), part.data());
  EXPECT_EQ(part, data(Side::candidate, 1, 1).substr(400, part.size()));
  // Also while one side has its constants alone.
  for (const Side side : both_sides) {
    memory_->give_constants(side);
    std::string again(40, '\0');
    memory_->read_input(1, 1, 400, again.size(), again.data());
    EXPECT_EQ(again, part);
    memory_->make_ready(side, Caches::any);
  }
  write(Side::candidate, 1, 2.5F);
  float values[3] = {};
  memory_->read_output(Side::candidate, 1, 0, 16, sizeof values, reinterpret_cast<char*>(values));
  EXPECT_THAT(values, Each(2.5F));
}

TEST_F(TwoSides, ANudgeGoesAnotherWayUnderAnotherKeyAndEndsWithTheNextDraw) {
  lay_out(task_with_constant());
  draw();
  const std::string drawn = data(Side::incumbent, 0, 1);
  memory_->nudge(numbered_key(1), 3);
  const std::string first = data(Side::incumbent, 0, 1);
  // What was hidden for kp_prepare comes back as it was, nudges included.
  memory_->give_constants(Side::incumbent);
  memory_->make_ready(Side::incumbent, Caches::any);
  EXPECT_EQ(data(Side::incumbent, 0, 1), first);
  draw();
  EXPECT_EQ(data(Side::incumbent, 0, 1), drawn);
  memory_->nudge(numbered_key(2), 3);
  EXPECT_NE(data(Side::incumbent, 0, 1), first);
}

// Four mebibytes for each of a thousand calls are no more than others ask for one.
TEST(HostGround, LeavesRoomForTheWorkspacesOfAllCalls) {
  const std::unique_ptr<Ground> ground = make_host_ground(1 << 20);
  JudgeSettings settings;
  settings.threads = 1;
  const JailPolicy policy = ground->runner(settings, "candidate.so", false, 1 << 20).policy;
  EXPECT_GT(policy.heap_bytes, std::int64_t{2} << 30);
  EXPECT_LT(policy.heap_bytes, std::int64_t{3} << 30) << "as much is its own";
  EXPECT_GE(policy.memory_bytes - policy.heap_bytes, available_memory_bytes() / 3);
  EXPECT_LE(policy.memory_bytes - policy.heap_bytes,
            std::max(physical_memory_bytes(), std::int64_t{2} << 30));
}

}  // namespace
}  // namespace kernelpro
