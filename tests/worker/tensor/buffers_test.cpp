#include "worker/tensor/buffers.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "kernelpro/candidate.h"
#include "support/keys.hpp"
#include "support/small_task.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace kernelpro::testing;

// Two outputs, one of them of single bytes.
Task two_outputs() {
  Task task = small_task();
  task.outputs.push_back(task.outputs[0]);
  task.outputs[1].name = "flags";
  task.outputs[1].dtype = DType::u8;
  return task;
}

BufferPlan plan_of(const Task& task, std::int64_t n, int sets = 2) {
  Result<BufferPlan> plan = plan_buffers(task, {{"n", n}}, sets, Key{});
  EXPECT_TRUE(plan) << plan.error().text();
  return std::move(*plan);
}

Arena arena(std::size_t bytes, bool read_only_elsewhere = false) {
  Result<Arena> made = Arena::create(bytes, read_only_elsewhere);
  EXPECT_TRUE(made) << made.error().text();
  return std::move(*made);
}

TEST(BufferPlan, PutsEachTensorAtTheEndOfPagesOfItsOwn) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const std::int64_t n : {0, 1, 15, 16, 17, 1000, 1024, 4096}) {
    const BufferPlan plan = plan_of(two_outputs(), n);
    std::size_t next_input = 0;
    std::size_t next_output = 0;
    for (const TensorPlan& tensor : plan.tensors) {
      SCOPED_TRACE(tensor.name + " " + std::to_string(n));
      std::size_t& next = tensor.output ? next_output : next_input;
      EXPECT_EQ(tensor.region_offset, next);
      next += tensor.region_bytes;
      EXPECT_EQ(tensor.region_offset % page, 0U);
      EXPECT_EQ(tensor.region_bytes % page, 0U);
      EXPECT_EQ(tensor.data_offset % 64, 0U);
      EXPECT_GE(tensor.data_offset, 64U) << "no slack in front";
      EXPECT_EQ(tensor.bytes, static_cast<std::size_t>(n) * size_of(tensor.dtype));
      EXPECT_LE(tensor.data_offset + tensor.bytes, tensor.region_bytes);
      EXPECT_LE(tensor.region_bytes - tensor.data_offset - tensor.bytes, n == 0 ? 64U : 63U);
    }
    EXPECT_EQ(plan.input_stride, next_input);
    EXPECT_EQ(plan.output_stride, next_output);
    EXPECT_EQ(plan.input_bytes(), 2 * next_input);
    EXPECT_EQ(plan.set_bytes, static_cast<std::size_t>(n) * 13);
  }
}

TEST(BufferPlan, OfTheOracleHoldsDoublesAndSelectionsInsteadOfIndices) {
  Task task = two_outputs();
  task.outputs[1].dtype = DType::i32;
  task.outputs[1].selects = "distance";
  task.selections = {{"distance", {formula("n"), formula("3")}, true}};
  const Result<BufferPlan> plan = plan_buffers(task, {{"n", 10}}, 1, Key{}, PlanKind::oracle);
  ASSERT_TRUE(plan) << plan.error().text();
  ASSERT_EQ(plan->tensors.size(), 4U);
  EXPECT_EQ(plan->tensors[2].name, "out");
  EXPECT_EQ(plan->tensors[2].dtype, DType::f64);
  EXPECT_EQ(plan->tensors[3].name, "distance");
  EXPECT_THAT(plan->tensors[3].shape, ElementsAre(10, 3));
}

TEST(BufferPlan, RefusesMoreTensorsThanARunnerKnows) {
  Task task = small_task();
  task.inputs.resize(runner::max_tensors, task.inputs[0]);
  const Result<BufferPlan> plan = plan_buffers(task, {{"n", 10}}, 1, Key{});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text(), HasSubstr("at most 64 tensors"));
}

TEST(Scalars, AreDrawnFromTheirRangesAndRoundedToTheirTypes) {
  Task task = small_task();
  task.scalars = {{"f", DType::f32, 0.5, 2.0},
                  {"d", DType::f64, 0.5, 2.0},
                  {"i", DType::i32, 3, 9},
                  {"fixed", DType::f32, 0.25, 0.25}};
  bool differs = false;
  for (std::uint64_t number = 0; number < 100; ++number) {
    BufferPlan plan = *plan_buffers(task, {{"n", 10}}, 1, numbered_key(number));
    ASSERT_EQ(plan.scalars.size(), 4U);
    EXPECT_GE(plan.scalars[0], 0.5);
    EXPECT_LE(plan.scalars[0], 2.0);
    EXPECT_EQ(plan.scalars[0], static_cast<double>(static_cast<float>(plan.scalars[0])));
    EXPECT_GE(plan.scalars[2], 3);
    EXPECT_LE(plan.scalars[2], 9);
    EXPECT_EQ(plan.scalars[2], std::floor(plan.scalars[2]));
    EXPECT_EQ(plan.scalars[3], 0.25);
    const std::vector<double> before = plan.scalars;
    redraw_scalars(task, plan, numbered_key(number));
    EXPECT_EQ(plan.scalars, before);
    redraw_scalars(task, plan, numbered_key(number + 1));
    differs = differs || plan.scalars != before;
  }
  EXPECT_TRUE(differs);
}

TEST(Layout, TellsTheRunnerWhereEverythingIs) {
  Task task = small_task();
  task.outputs[0].shape = {formula("n"), formula("4")};
  task.outputs[0].dtype = DType::bf16;
  const BufferPlan plan = plan_of(task, 5, 3);
  const runner::Layout layout = runner_layout(plan, 7);
  EXPECT_EQ(layout.sets, 3U);
  EXPECT_EQ(layout.threads, 7);
  EXPECT_EQ(layout.tensor_count, 3U);
  EXPECT_EQ(layout.axis_count, 1U);
  EXPECT_EQ(layout.axes[0], 5);
  EXPECT_EQ(layout.tensors[0].output, 0U);
  EXPECT_EQ(layout.tensors[0].code, KP_FLOAT);
  EXPECT_EQ(layout.tensors[0].bits, 32);
  const runner::TensorPlace& out = layout.tensors[2];
  EXPECT_EQ(out.output, 1U);
  EXPECT_EQ(out.code, KP_BFLOAT);
  EXPECT_EQ(out.bits, 16);
  EXPECT_EQ(out.rank, 2);
  EXPECT_EQ(out.shape[0], 5);
  EXPECT_EQ(out.shape[1], 4);
  EXPECT_EQ(out.strides[0], 4);
  EXPECT_EQ(out.strides[1], 1);
}

class Guards : public ::testing::Test {
 protected:
  Guards() {
    poison_outputs(plan_, outputs_, 0);
    poison_outputs(plan_, outputs_, 1);
  }

  char* data(std::size_t output, int set = 0) {
    return tensor_data(plan_, outputs_, set, plan_.input_count + output);
  }
  std::size_t bytes(std::size_t output) { return plan_.tensors[plan_.input_count + output].bytes; }

  BufferPlan plan_ = plan_of(two_outputs(), 1001);
  Arena outputs_ = arena(plan_.output_bytes());
};

TEST_F(Guards, AreWholeWhenOnlyTheDataIsWritten) {
  EXPECT_TRUE(still_poisoned(plan_, outputs_, 0));
  for (const std::size_t output : {0U, 1U}) {
    std::memset(data(output), 0, bytes(output));
  }
  EXPECT_THAT(find_breaches(plan_, outputs_, 0), IsEmpty());
  EXPECT_FALSE(still_poisoned(plan_, outputs_, 0));
  EXPECT_TRUE(still_poisoned(plan_, outputs_, 1));
}

TEST_F(Guards, ShowOneByteOnEitherSideOfEachOutput) {
  for (const std::size_t output : {0U, 1U}) {
    const std::string name = output == 0 ? "out" : "flags";
    poison_outputs(plan_, outputs_, 0);
    data(output)[-1] = 0;
    std::vector<GuardBreach> breaches = find_breaches(plan_, outputs_, 0);
    ASSERT_EQ(breaches.size(), 1U);
    EXPECT_EQ(breaches[0].tensor, name);
    EXPECT_TRUE(breaches[0].before);
    EXPECT_EQ(breaches[0].offset, -1);

    poison_outputs(plan_, outputs_, 0);
    data(output)[bytes(output)] = 0;
    breaches = find_breaches(plan_, outputs_, 0);
    ASSERT_EQ(breaches.size(), 1U);
    EXPECT_EQ(breaches[0].tensor, name);
    EXPECT_FALSE(breaches[0].before);
    EXPECT_EQ(breaches[0].offset, 0);
  }
}

TEST_F(Guards, AreEachSetsOwn) {
  data(0, 1)[-1] = 0;
  EXPECT_THAT(find_breaches(plan_, outputs_, 0), IsEmpty());
  EXPECT_EQ(find_breaches(plan_, outputs_, 1).size(), 1U);
}

TEST(Poison, IsSeenInEveryByte) {
  std::vector<char> bytes(100, static_cast<char>(poison_byte));
  EXPECT_TRUE(is_poison(bytes.data(), bytes.size()));
  EXPECT_TRUE(is_poison(bytes.data(), 0));
  for (char& byte : bytes) {
    byte = 0x7f;
    EXPECT_FALSE(is_poison(bytes.data(), bytes.size()));
    byte = static_cast<char>(poison_byte);
  }
}

// Whether `attempt` succeeds in another process.
bool another_process_can(const std::function<bool()>& attempt) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(attempt() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status) == 0;
}

bool maps(int fd, std::size_t bytes, int protection) {
  return mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0) != MAP_FAILED;
}

TEST(Arena, OfInputsCanBeReadButNeverChangedElsewhere) {
  const Arena inputs = arena(10'000, true);
  inputs.data()[0] = 'x';  // we can
  const int fd = inputs.fd();
  const std::size_t bytes = inputs.size();
  EXPECT_TRUE(another_process_can([=] { return maps(fd, bytes, PROT_READ); }));
  EXPECT_FALSE(another_process_can([=] { return maps(fd, bytes, PROT_READ | PROT_WRITE); }));
  EXPECT_FALSE(another_process_can([=] { return pwrite(fd, "y", 1, 0) == 1; }));
  EXPECT_FALSE(another_process_can([=] {
    void* data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    return mprotect(data, bytes, PROT_READ | PROT_WRITE) == 0;
  }));
  EXPECT_FALSE(another_process_can([=] {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    const int again = open(path.c_str(), O_RDWR | O_CLOEXEC);
    return again >= 0 && maps(again, bytes, PROT_READ | PROT_WRITE);
  }));
  EXPECT_EQ(inputs.data()[0], 'x');
}

TEST(Arena, CannotBeResizedOrUnsealedElsewhere) {
  for (const bool read_only : {false, true}) {
    const Arena sealed = arena(10'000, read_only);
    const int fd = sealed.fd();
    const auto bytes = static_cast<off_t>(sealed.size());
    EXPECT_FALSE(another_process_can([=] { return ftruncate(fd, 0) == 0; }));
    EXPECT_FALSE(another_process_can([=] { return ftruncate(fd, 2 * bytes) == 0; }));
    EXPECT_FALSE(another_process_can([=] { return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0; }));
  }
}

TEST(Arena, OfOutputsIsShared) {
  const Arena outputs = arena(10'000);
  const int fd = outputs.fd();
  EXPECT_TRUE(another_process_can([=, bytes = outputs.size()] {
    auto* data =
        static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    data[77] = 'z';
    return true;
  }));
  EXPECT_EQ(outputs.data()[77], 'z');
}

}  // namespace
}  // namespace kernelpro
