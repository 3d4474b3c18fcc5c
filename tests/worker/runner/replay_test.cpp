// kernelpro-runner as it is started for a profiler, as far as it comes without a GPU.
#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/base/runner_protocol.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int bad_job = 2;
constexpr int device_failed = 4;

class ReplayTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(scratch_) << scratch_.error().text(); }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }

  // A job with one input of a thousand bytes.
  static runner::Layout small_layout() {
    runner::Layout layout{};
    layout.sets = 1;
    layout.tensor_count = 1;
    layout.tensors[0].region_bytes = 1000;
    return layout;
  }

  void put(const runner::Layout& layout, std::size_t input_bytes = 1000) const {
    const auto* bytes = reinterpret_cast<const char*>(&layout);
    ASSERT_TRUE(
        write_file_unsynced(folder() / runner::replay_layout, std::string(bytes, sizeof layout)));
    ASSERT_TRUE(
        write_file_unsynced(folder() / runner::replay_inputs, std::string(input_bytes, 'x')));
  }

  [[nodiscard]] static Finished replay(const std::string& place) {
    Command command;
    command.arguments = {KERNELPRO_BIN_DIR "/kernelpro-runner", runner::cuda_argument,
                         runner::replay_argument, place, "3"};
    command.environment["CUDA_VISIBLE_DEVICES"] = "";
    const Result<Finished> finished = run_command(command);
    EXPECT_TRUE(finished) << finished.error().text();
    return finished ? *finished : Finished();
  }

  void expect_no_job(const char* what) const {
    const Finished finished = replay(folder().string());
    EXPECT_EQ(finished.exit_code, bad_job) << what << ": " << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr("holds no job to replay: " + folder().string())) << what;
    EXPECT_THAT(finished.output, IsEmpty());
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("replay-test");
};

TEST_F(ReplayTest, WithoutAGpuSaysSo) {
  put(small_layout());
  const Finished finished = replay(folder().string());
  EXPECT_EQ(finished.exit_code, device_failed) << finished.errors;
  EXPECT_THAT(finished.errors, HasSubstr("kernelpro-runner: "));
  EXPECT_THAT(finished.errors, ::testing::AnyOf(HasSubstr("driver"), HasSubstr("GPU")));
}

TEST_F(ReplayTest, AFolderThatIsNotThereHoldsNoJob) {
  const Finished finished = replay((folder() / "nowhere").string());
  EXPECT_EQ(finished.exit_code, bad_job);
  EXPECT_THAT(finished.errors, HasSubstr("nowhere"));
}

TEST_F(ReplayTest, AnEmptyFolderHoldsNoJob) {
  expect_no_job("empty");
}

TEST_F(ReplayTest, AJobWithoutInputsIsNone) {
  put(small_layout());
  fs::remove(folder() / runner::replay_inputs);
  expect_no_job("no inputs");
}

TEST_F(ReplayTest, ALayoutThatWasCutIsNone) {
  put(small_layout());
  fs::resize_file(folder() / runner::replay_layout, sizeof(runner::Layout) - 1);
  expect_no_job("cut");
  fs::resize_file(folder() / runner::replay_layout, 0);
  expect_no_job("empty");
}

TEST_F(ReplayTest, ALayoutThatCannotBeIsNone) {
  runner::Layout layout = small_layout();
  layout.sets = 2;
  put(layout);
  expect_no_job("two sets");
  layout = small_layout();
  layout.tensor_count = runner::max_tensors + 1;
  put(layout);
  expect_no_job("too many tensors");
  layout = small_layout();
  layout.scalar_count = std::numeric_limits<std::uint32_t>::max();
  put(layout);
  expect_no_job("too many scalars");
  layout = small_layout();
  layout.axis_count = runner::max_values + 1;
  put(layout);
  expect_no_job("too many axes");
}

// Whatever it says, nothing is read beyond the file of inputs.
TEST_F(ReplayTest, InputsBeyondTheirFileAreNone) {
  put(small_layout(), 999);
  expect_no_job("a byte short");
  put(small_layout(), 0);
  expect_no_job("empty");
  runner::Layout layout = small_layout();
  layout.tensors[0].region_offset = 1;
  put(layout);
  expect_no_job("a byte beyond");
  layout.tensors[0].region_offset = std::numeric_limits<std::uint64_t>::max();
  put(layout);
  expect_no_job("around the end of all numbers");
  layout = small_layout();
  layout.tensors[0].data_offset = 1001;
  put(layout);
  expect_no_job("data beyond its region");
}

}  // namespace
}  // namespace kernelpro
