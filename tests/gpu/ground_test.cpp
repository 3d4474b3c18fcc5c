// The memory of the GPU's ground: drawn as the CPU draws, guarded.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "gpu/device_buffers.hpp"
#include "worker/tensor/compare.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;

void add_input(Task& task, DType dtype, ValueKind kind, const std::string& extent) {
  TensorSpec tensor = gpu_tensor("input" + std::to_string(task.inputs.size()), {extent});
  tensor.dtype = dtype;
  tensor.values.kind = kind;
  tensor.values.low = -3;
  tensor.values.high = 5;
  tensor.values.bound = formula("n");
  task.inputs.push_back(tensor);
}

Task task_without_inputs() {
  Task task = stream_task();
  task.axes = {AxisSpec{"n", std::nullopt}, AxisSpec{"rows", std::nullopt}};
  task.inputs.clear();
  return task;
}

// An input of every floating type and kind.
Task floating_task() {
  Task task = task_without_inputs();
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    add_input(task, dtype, ValueKind::normal, "n");
    add_input(task, dtype, ValueKind::uniform, "n");
  }
  return task;
}

// Whole numbers of every type, and every structure there is.
Task whole_task() {
  Task task = task_without_inputs();
  for (const DType dtype : {DType::i64, DType::i32, DType::i16, DType::i8}) {
    add_input(task, dtype, ValueKind::uniform, "n");
  }
  add_input(task, DType::i64, ValueKind::index, "n");
  add_input(task, DType::i32, ValueKind::index, "n");
  for (const DType dtype : {DType::i64, DType::i32}) {
    add_input(task, dtype, ValueKind::offsets, "rows + 1");
    const std::string rows = task.inputs.back().name;
    add_input(task, dtype, ValueKind::csr_columns, "n");
    task.inputs.back().values.rows_of = rows;
  }
  return task;
}

// Whole numbers must be equal; others may differ by what contracted arithmetic explains.
void expect_close(const std::vector<char>& ours, const char* theirs, const TensorPlan& tensor) {
  if (!is_floating(tensor.dtype)) {
    EXPECT_EQ(std::memcmp(ours.data(), theirs, tensor.bytes), 0);
    return;
  }
  const std::vector<double> a = to_doubles(ours.data(), tensor.dtype, tensor.elements);
  const std::vector<double> b = to_doubles(theirs, tensor.dtype, tensor.elements);
  constexpr double of_a_float = 0x1p-24;
  const double unit = std::max(unit_roundoff(tensor.dtype), of_a_float);
  // Bounded values are a sum of the range's ends, which rounds as large as these are.
  constexpr double largest_end = 8;
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_LE(std::abs(a[i] - b[i]), 4 * unit * std::abs(b[i]) + 2 * of_a_float * largest_end)
        << "element " << i << ": " << a[i] << " here, " << b[i] << " on the CPU";
    different += a[i] != b[i] ? 1 : 0;
  }
  EXPECT_LE(different, a.size() / 2);
}

// Under every distribution, all inputs of the task as the CPU draws them.
void expect_same_draws(const Buffers& on_gpu) {
  const Task& task = on_gpu.task();
  const Result<BufferPlan> plan = plan_buffers(task, on_gpu.plan().axes, 1, Key{});
  ASSERT_TRUE(plan) << plan.error().text();
  const Arena arena = *Arena::create(plan->input_bytes(), false);
  std::uint64_t key = 5;
  for (const Distribution distribution : all_distributions) {
    on_gpu.draw({++key}, distribution);
    fill_inputs(task, *plan, {&arena}, 0, {numbered_key(key), distribution});
    for (std::size_t i = 0; i < plan->input_count; ++i) {
      SCOPED_TRACE(std::string(name_of(distribution)) + " " +
                   std::string(name_of(plan->tensors[i].dtype)) + " input " + std::to_string(i));
      expect_close(on_gpu.data(0, i), tensor_data(*plan, arena, 0, i), plan->tensors[i]);
    }
  }
  EXPECT_TRUE(on_gpu.memory().health());
}

// More than one group of the random stream, and no multiple of anything.
const Axes drawn_axes = {{"n", 70'001}, {"rows", 977}};

TEST_F(GpuGround, DrawsFloatingInputsAsTheCpuDoes) {
  expect_same_draws(buffers(floating_task(), drawn_axes, 1));
}

TEST_F(GpuGround, DrawsWholeNumbersAsTheCpuDoes) {
  expect_same_draws(buffers(whole_task(), drawn_axes, 1));
}

TEST_F(GpuGround, DrawsEachSetFromItsOwnKey) {
  const Buffers sets = stream_buffers(3);
  sets.draw({1, 2, 1});
  EXPECT_EQ(sets.data(0, 0), sets.data(2, 0));
  EXPECT_NE(sets.data(0, 0), sets.data(1, 0));
  EXPECT_NE(sets.data(0, 0), sets.data(0, 1));
}

TEST_F(GpuGround, GivesBothSidesTheSameInputsInMemoryOfTheirOwn) {
  const Buffers sets = stream_buffers();
  sets.draw({1, 2});
  for (std::size_t input = 0; input < sets.plan().input_count; ++input) {
    EXPECT_EQ(sets.data(1, input, Side::candidate), sets.data(1, input, Side::incumbent));
  }
  const std::vector<char> before = sets.data(1, 0, Side::incumbent);
  const float other = 7;
  sets.window(1, 0).write(sets.plan().tensors[0].data_offset, &other, sizeof other);
  EXPECT_EQ(sets.data(1, 0, Side::incumbent), before);
}

TEST_F(GpuGround, HidesInputsUntilTheClockRuns) {
  const Buffers sets = stream_buffers();
  sets.draw({1, 2});
  const std::vector<char> given = sets.data(1, 0);
  sets.memory().make_ready(Side::candidate, Caches::cold);
  const std::vector<char> hidden = sets.data(1, 0);
  EXPECT_TRUE(is_poison(hidden.data(), hidden.size()));
  sets.memory().give(Side::candidate, Caches::cold);
  EXPECT_EQ(sets.data(1, 0), given);
  EXPECT_TRUE(sets.memory().health());
}

TEST_F(GpuGround, NudgesEveryFloatByOneStep) {
  const Buffers sets = stream_buffers();
  sets.draw({1, 2});
  // By how many steps of a float the nudge moved each element.
  const auto steps = [](const std::vector<char>& before, const std::vector<char>& after) {
    std::vector<std::int32_t> out(before.size() / sizeof(float));
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::int32_t bits[2] = {};
      std::memcpy(&bits[0], before.data() + i * sizeof(float), sizeof(float));
      std::memcpy(&bits[1], after.data() + i * sizeof(float), sizeof(float));
      out[i] = bits[1] - bits[0];
    }
    return out;
  };
  const std::vector<char> before = sets.data(1, 0);
  sets.memory().nudge(numbered_key(9), 1);
  sets.give();
  const std::vector<std::int32_t> ours = steps(before, sets.data(1, 0));
  EXPECT_THAT(ours, ::testing::Each(::testing::AnyOf(1, -1)));
  EXPECT_THAT(ours, ::testing::Contains(1));
  EXPECT_THAT(ours, ::testing::Contains(-1));
}

TEST_F(GpuGround, FillsTheSlackAroundInputs) {
  const Buffers sets = stream_buffers(1);
  const TensorPlan& tensor = sets.plan().tensors[0];
  const std::size_t end = tensor.data_offset + tensor.bytes;
  ASSERT_GT(tensor.data_offset, 0U);
  ASSERT_LT(end, tensor.region_bytes);
  constexpr char slack = 0x7e;
  sets.draw({1}, Distribution::normal, slack);
  const Window window = sets.window(0, 0);
  EXPECT_THAT(window.read(0, tensor.data_offset), ::testing::Each(slack));
  EXPECT_THAT(window.read(end, tensor.region_bytes - end), ::testing::Each(slack));
}

TEST_F(GpuGround, PoisonsOnlyWhatIsNotConstantBeforePreparing) {
  const Buffers sets = buffers(rows_task(), {{"m", 5}, {"k", 7}}, 2);
  sets.draw({1, 2});
  const std::vector<char> weights = sets.data(1, 0);
  sets.memory().give_constants(Side::candidate);
  EXPECT_EQ(sets.data(1, 0), weights);
  const std::vector<char> x = sets.data(1, 1);
  EXPECT_TRUE(is_poison(x.data(), x.size()));
}

TEST_F(GpuGround, FindsNothingTouchedWhereOnlyOutputsWereWritten) {
  const Buffers sets = stream_buffers();
  sets.memory().poison_outputs(Side::candidate);
  sets.write(1, std::vector<float>(1001, 2.5F));
  const Touched touched = sets.memory().touched(Side::candidate, {1});
  EXPECT_FALSE(touched.uncalled_set);
  EXPECT_FALSE(touched.breach);
}

TEST_F(GpuGround, FindsTheByteBesideAnOutput) {
  const Buffers sets = stream_buffers();
  const auto bytes = static_cast<std::int64_t>(sets.plan().tensors.back().bytes);
  struct Case {
    std::int64_t at;
    bool before;
    std::int64_t offset;
  };
  for (const Case& one : {Case{-1, true, -1}, Case{bytes, false, 0}, Case{-100'001, true, -100'001},
                          Case{bytes + 3, false, 3}}) {
    SCOPED_TRACE(one.at);
    sets.memory().poison_outputs(Side::candidate);
    sets.write_byte(1, one.at, 0);
    const Touched touched = sets.memory().touched(Side::candidate, {1});
    ASSERT_TRUE(touched.breach);
    EXPECT_EQ(touched.breach->tensor, "y");
    EXPECT_EQ(touched.breach->before, one.before);
    EXPECT_EQ(touched.breach->offset, one.offset);
    EXPECT_FALSE(touched.uncalled_set);
  }
}

TEST_F(GpuGround, FindsAnyByteOfASetThatWasNotCalled) {
  const Buffers sets = stream_buffers(3);
  const auto bytes = static_cast<std::int64_t>(sets.plan().tensors.back().bytes);
  for (const std::int64_t at :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{17}, bytes - 1, bytes}) {
    SCOPED_TRACE(at);
    sets.memory().poison_outputs(Side::candidate);
    sets.write_byte(2, at, 0xfe);
    const Touched touched = sets.memory().touched(Side::candidate, {0, 1});
    EXPECT_EQ(touched.uncalled_set, 2);
  }
}

TEST_F(GpuGround, FindsTheByteBesideAWorkspace) {
  const Buffers sets = stream_buffers();
  Result<std::unique_ptr<Scratch>> scratch = sets.memory().make_scratch(1000);
  ASSERT_TRUE(scratch) << scratch.error().text();
  runner::Layout layout{};
  (*scratch)->describe(layout);
  ASSERT_EQ(layout.workspace_bytes, 1000U);
  const unsigned char other = 3;
  for (const std::size_t at : {layout.workspace_offset - 1, layout.workspace_offset + 1000}) {
    SCOPED_TRACE(at);
    (*scratch)->poison(poison_byte);
    EXPECT_TRUE((*scratch)->intact());
    Window(*gpu_, (*scratch)->descriptors()[1], layout.workspace_stride).write(at, &other, 1);
    EXPECT_FALSE((*scratch)->intact());
  }
  (*scratch)->poison(poison_byte);
  Window(*gpu_, (*scratch)->descriptors()[1], layout.workspace_stride)
      .write(layout.workspace_offset, &other, 1);
  EXPECT_TRUE((*scratch)->intact()) << "the workspace itself may be written";
}

TEST_F(GpuGround, SeesEveryBitOfTheInputsThatChanges) {
  const Buffers sets = stream_buffers();
  sets.draw({1, 2});
  EXPECT_TRUE(sets.memory().inputs_intact(Side::candidate));
  const TensorPlan& tensor = sets.plan().tensors[1];
  const Window window = sets.window(1, 1);
  for (const std::size_t at :
       {tensor.data_offset, tensor.data_offset + 501, tensor.data_offset + tensor.bytes - 1}) {
    SCOPED_TRACE(at);
    const char old = window.read(at, 1).front();
    const char changed = static_cast<char>(old ^ 0x10);
    window.write(at, &changed, 1);
    EXPECT_FALSE(sets.memory().inputs_intact(Side::candidate));
    EXPECT_TRUE(sets.memory().inputs_intact(Side::incumbent));
    window.write(at, &old, 1);
    EXPECT_TRUE(sets.memory().inputs_intact(Side::candidate));
  }
}

}  // namespace
}  // namespace kernelpro
