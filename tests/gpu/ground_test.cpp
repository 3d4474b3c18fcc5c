// The memory of the GPU's ground: drawn as the CPU draws, guarded, compared as the CPU compares.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "gpu/fixture.hpp"
#include "worker/tensor/compare.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace kernelpro::testing;

// Memory of the ground as another process would have it: mapped anew by its descriptor.
class Window {
 public:
  Window(const Gpu& gpu, int descriptor, std::size_t bytes) : gpu_(gpu), bytes_(bytes) {
    const cuda::Driver& driver = gpu.driver();
    cuda::AllocationHandle handle = 0;
    cuda::AccessDescription access;
    access.location.id = gpu.description().ordinal;
    void* shared = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
    must(driver.memory_import(&handle, shared, cuda::file_descriptor_handle));
    must(driver.address_reserve(&pointer_, bytes, 0, 0, 0));
    must(driver.memory_map(pointer_, bytes, 0, handle, 0));
    must(driver.memory_release(handle));
    must(driver.memory_access(pointer_, bytes, &access, 1));
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() {
    must(gpu_.driver().memory_unmap(pointer_, bytes_));
    must(gpu_.driver().address_free(pointer_, bytes_));
  }

  [[nodiscard]] std::vector<char> read(std::size_t offset, std::size_t bytes) const {
    std::vector<char> out(bytes);
    must(gpu_.driver().copy_to_host(out.data(), pointer_ + offset, bytes, gpu_.stream()));
    must(gpu_.synchronize());
    return out;
  }

  void write(std::size_t offset, const void* data, std::size_t bytes) const {
    must(gpu_.driver().copy_to_device(pointer_ + offset, data, bytes, gpu_.stream()));
    must(gpu_.synchronize());
  }

 private:
  void must(cuda::Code code) const { EXPECT_EQ(code, cuda::success) << gpu_.driver().text(code); }

  const Gpu& gpu_;
  std::size_t bytes_;
  cuda::Pointer pointer_ = 0;
};

// The buffers of a task at one shape on the GPU.
class Buffers {
 public:
  Buffers(Gpu& gpu, Ground& ground, Task task, const Axes& axes, int sets)
      : gpu_(gpu), task_(std::move(task)) {
    plan_ = *plan_buffers(task_, *complete_axes(task_, axes), sets, 1, PlanKind::candidate,
                          ground.units());
    Result<std::unique_ptr<SetMemory>> memory = ground.lay_out(task_, plan_);
    EXPECT_TRUE(memory) << memory.error().text();
    memory_ = std::move(*memory);
  }

  [[nodiscard]] const Task& task() const { return task_; }
  [[nodiscard]] const BufferPlan& plan() const { return plan_; }
  [[nodiscard]] SetMemory& memory() const { return *memory_; }

  [[nodiscard]] Window window(int set, std::size_t tensor) const {
    const std::size_t at = static_cast<std::size_t>(set) * plan_.tensors.size() + tensor;
    return {gpu_, memory_->descriptors()[at], plan_.tensors[tensor].region_bytes};
  }

  [[nodiscard]] std::vector<char> data(int set, std::size_t tensor) const {
    const TensorPlan& plan = plan_.tensors[tensor];
    return window(set, tensor).read(plan.data_offset, plan.bytes);
  }

  // Writes an output of floats, as a candidate would.
  void write(int set, const std::vector<float>& values) const {
    const std::size_t output = plan_.input_count;
    window(set, output)
        .write(plan_.tensors[output].data_offset, values.data(), values.size() * sizeof(float));
  }

  // Writes one byte at `offset` from the first byte of the output.
  void write_byte(int set, std::int64_t offset, unsigned char value) const {
    const std::size_t output = plan_.input_count;
    const auto begin = static_cast<std::int64_t>(plan_.tensors[output].data_offset);
    window(set, output).write(static_cast<std::size_t>(begin + offset), &value, 1);
  }

 private:
  Gpu& gpu_;
  Task task_;
  BufferPlan plan_;
  std::unique_ptr<SetMemory> memory_;
};

class GpuGround : public GpuTest {
 protected:
  static Buffers buffers(Task task, const Axes& axes, int sets) {
    return {*gpu_, *ground_, std::move(task), axes, sets};
  }
  // A length that leaves slack on both sides of each tensor.
  static Buffers stream_buffers(int sets = 2) {
    return buffers(stream_task(), {{"n", 1001}}, sets);
  }
};

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
  const Result<BufferPlan> plan = plan_buffers(task, on_gpu.plan().axes, 1, 1);
  ASSERT_TRUE(plan) << plan.error().text();
  const Arena arena = *Arena::create(plan->input_bytes(), false);
  std::uint64_t seed = 5;
  for (const Distribution distribution : all_distributions) {
    on_gpu.memory().fill({++seed}, distribution, poison_byte);
    fill_inputs(task, *plan, arena, 0, seed, distribution);
    for (std::size_t i = 0; i < plan->input_count; ++i) {
      SCOPED_TRACE(std::string(name_of(distribution)) + " " +
                   std::string(name_of(plan->tensors[i].dtype)) + " input " + std::to_string(i));
      expect_close(on_gpu.data(0, i), tensor_data(*plan, arena, 0, i), plan->tensors[i]);
    }
  }
  EXPECT_TRUE(on_gpu.memory().health());
}

// More than one block of the random stream, and no multiple of anything.
const Axes drawn_axes = {{"n", 70'001}, {"rows", 977}};

TEST_F(GpuGround, DrawsFloatingInputsAsTheCpuDoes) {
  expect_same_draws(buffers(floating_task(), drawn_axes, 1));
}

TEST_F(GpuGround, DrawsWholeNumbersAsTheCpuDoes) {
  expect_same_draws(buffers(whole_task(), drawn_axes, 1));
}

TEST_F(GpuGround, DrawsEachSetFromItsOwnSeed) {
  const Buffers sets = stream_buffers(3);
  sets.memory().fill({1, 2, 1}, Distribution::normal, poison_byte);
  EXPECT_EQ(sets.data(0, 0), sets.data(2, 0));
  EXPECT_NE(sets.data(0, 0), sets.data(1, 0));
  EXPECT_NE(sets.data(0, 0), sets.data(0, 1));
}

TEST_F(GpuGround, FillsTheSlackAroundInputs) {
  const Buffers sets = stream_buffers(1);
  const TensorPlan& tensor = sets.plan().tensors[0];
  const std::size_t end = tensor.data_offset + tensor.bytes;
  ASSERT_GT(tensor.data_offset, 0U);
  ASSERT_LT(end, tensor.region_bytes);
  constexpr char slack = 0x7e;
  sets.memory().fill({1}, Distribution::normal, slack);
  const Window window = sets.window(0, 0);
  EXPECT_THAT(window.read(0, tensor.data_offset), ::testing::Each(slack));
  EXPECT_THAT(window.read(end, tensor.region_bytes - end), ::testing::Each(slack));
}

TEST_F(GpuGround, PoisonsOnlyWhatIsNotConstantBeforePreparing) {
  const Buffers sets = buffers(rows_task(), {{"m", 5}, {"k", 7}}, 2);
  sets.memory().fill({1, 2}, Distribution::normal, poison_byte);
  const std::vector<char> weights = sets.data(1, 0);
  sets.memory().poison_varying_inputs();
  EXPECT_EQ(sets.data(1, 0), weights);
  const std::vector<char> x = sets.data(1, 1);
  EXPECT_TRUE(is_poison(x.data(), x.size()));
}

TEST_F(GpuGround, FindsNothingTouchedWhereOnlyOutputsWereWritten) {
  const Buffers sets = stream_buffers();
  sets.memory().poison_outputs();
  sets.write(1, std::vector<float>(1001, 2.5F));
  const Touched touched = sets.memory().touched({1});
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
    sets.memory().poison_outputs();
    sets.write_byte(1, one.at, 0);
    const Touched touched = sets.memory().touched({1});
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
    sets.memory().poison_outputs();
    sets.write_byte(2, at, 0xfe);
    const Touched touched = sets.memory().touched({0, 1});
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
    (*scratch)->poison();
    EXPECT_TRUE((*scratch)->intact());
    Window(*gpu_, (*scratch)->descriptors()[1], layout.workspace_stride).write(at, &other, 1);
    EXPECT_FALSE((*scratch)->intact());
  }
  (*scratch)->poison();
  Window(*gpu_, (*scratch)->descriptors()[1], layout.workspace_stride)
      .write(layout.workspace_offset, &other, 1);
  EXPECT_TRUE((*scratch)->intact()) << "the workspace itself may be written";
}

TEST_F(GpuGround, HashesEveryBitOfTheInputs) {
  const Buffers sets = stream_buffers();
  sets.memory().fill({1, 2}, Distribution::normal, poison_byte);
  const std::uint64_t before = sets.memory().inputs_hash();
  EXPECT_EQ(sets.memory().inputs_hash(), before);
  const TensorPlan& tensor = sets.plan().tensors[1];
  const Window window = sets.window(1, 1);
  for (const std::size_t at :
       {std::size_t{0}, tensor.data_offset, tensor.data_offset + 501, tensor.region_bytes - 1}) {
    SCOPED_TRACE(at);
    const char old = window.read(at, 1).front();
    const char changed = static_cast<char>(old ^ 0x10);
    window.write(at, &changed, 1);
    EXPECT_NE(sets.memory().inputs_hash(), before);
    window.write(at, &old, 1);
    EXPECT_EQ(sets.memory().inputs_hash(), before);
  }
}

// What the copy holds, and what the outputs hold at the time of comparing.
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
  sets.memory().poison_outputs();
  sets.write(1, outputs.truth);
  sets.memory().save_outputs();
  sets.memory().poison_outputs();
  sets.write(1, outputs.actual);
  return sets.memory().errors_to(SetMemory::Copy::saved, 1).front();
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

TEST_F(GpuGround, SeesWhereTwoArmsDisagreeWhicheverRanFirst) {
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
    for (const bool bad_first : {false, true}) {
      SCOPED_TRACE(std::to_string(bad[500]) + (bad_first ? " first" : " second"));
      sets.write(0, right);
      sets.write(1, bad_first ? bad : right);
      sets.memory().save_outputs();
      sets.write(1, bad_first ? right : bad);
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
  EXPECT_FALSE(sets.memory().same_output(0, 1, 0, 0));
  EXPECT_TRUE(sets.memory().same_output(0, 1, 0, 1e-6));
  EXPECT_FALSE(sets.memory().same_output(0, 1, 0, 1e-9));
}

TEST_F(GpuGround, TakesFewDifferentLabelsForTies) {
  const Buffers sets = buffers(nearest_task(), {{"n", 4000}, {"k", 3}}, 1);
  const std::size_t output = sets.plan().input_count;
  const std::size_t begin = sets.plan().tensors[output].data_offset;
  std::vector<std::int32_t> labels(4000, 1);
  const auto write = [&] {
    sets.window(0, output).write(begin, labels.data(), labels.size() * sizeof(std::int32_t));
  };
  write();
  sets.memory().save_outputs();
  labels[7] = 2;
  write();
  EXPECT_EQ(sets.memory().errors_to(SetMemory::Copy::saved, 0).front().error, 0);
  std::fill(labels.begin(), labels.begin() + 5, 2);
  write();
  EXPECT_TRUE(std::isinf(sets.memory().errors_to(SetMemory::Copy::saved, 0).front().error));
}

}  // namespace
}  // namespace kernelpro
