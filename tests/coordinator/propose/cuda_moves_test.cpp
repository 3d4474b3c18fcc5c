// The moves for CUDA, made concrete for the bundled kernels.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/base/file.hpp"
#include "common/model/adapter.hpp"
#include "coordinator/propose/prospects.hpp"
#include "coordinator/rewrite/cuda_text.hpp"
#include "support/nvcc.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<std::string> tasks_with_cuda() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(KERNELPRO_SOURCE_DIR "/tasks")) {
    if (fs::exists(entry.path() / "baseline.cu")) {
      out.push_back(entry.path().filename().string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<Playbook> cuda_playbook() {
  PlaybookSettings settings;
  settings.moves = KERNELPRO_SOURCE_DIR "/knowledge/moves/cuda";
  settings.compilers = {"nvcc"};
  return Playbook::load(settings);
}

Parent parent_of(const std::string& source) {
  Parent parent;
  parent.candidate.source = source;
  parent.candidate.backend = Backend::cuda;
  parent.candidate.compiler = "nvcc";
  parent.candidate.options = {"-O3"};
  return parent;
}

// Every move that has something to suggest.
std::set<std::string> moves_for(const Playbook& book, const Parent& parent) {
  Prospects prospects(book, parent);
  std::set<std::string> out;
  std::string key;
  while (const std::optional<Suggestion> one = prospects.take({}, {}, key)) {
    out.insert(one->proposal.move);
    EXPECT_EQ(one->proposal.candidate.compiler, "nvcc");
    EXPECT_EQ(one->proposal.candidate.backend, Backend::cuda);
  }
  return out;
}

class CudaMoves : public testing::TestWithParam<std::string> {
 protected:
  static std::string source() {
    const Result<std::string> text =
        read_file(fs::path(KERNELPRO_SOURCE_DIR "/tasks") / GetParam() / "baseline.cu");
    EXPECT_TRUE(text) << text.error().text();
    return text ? *text : "";
  }
};

TEST_P(CudaMoves, ReachEveryTier) {
  const Result<Playbook> book = cuda_playbook();
  ASSERT_TRUE(book) << book.error().text();
  const std::set<std::string> moves = moves_for(*book, parent_of(source()));
  EXPECT_THAT(moves, IsSupersetOf({"fast_math", "registers_64", "tune", "launch_bounds"}));
  for (const Move& move : book->known_moves()) {
    EXPECT_FALSE(move.tier == written_tier && moves.contains(move.id)) << move.id;
  }
}

TEST_P(CudaMoves, CompilesForCudaWhatTheyWrite) {
  const std::optional<std::string> nvcc = find_nvcc();
  if (!nvcc) {
    GTEST_SKIP() << "nvcc is neither in PATH nor in /usr/local/cuda/bin";
  }
  std::string text = source();
  int applied = 0;
  for (const std::string& name : cuda_rewriter_names()) {
    if (const auto rewritten = rewrite_cuda(name, text, {})) {
      text = rewritten->front().source;
      ++applied;
    }
  }
  EXPECT_GT(applied, 0);
  const Result<ScratchDir> scratch = ScratchDir::create("cuda-moves");
  ASSERT_TRUE(scratch) << scratch.error().text();
  const fs::path file = scratch->path() / "rewritten.cu";
  ASSERT_TRUE(write_file_unsynced(file, text));
  const Result<Finished> finished = compile_for_cuda(*nvcc, file, scratch->path() / "out.o");
  ASSERT_TRUE(finished) << finished.error().text();
  EXPECT_TRUE(finished->succeeded()) << text << finished->output << finished->errors;
}

INSTANTIATE_TEST_SUITE_P(Tasks, CudaMoves, testing::ValuesIn(tasks_with_cuda()),
                         [](const auto& instance) { return instance.param; });

// A function with a signature of its own, as a task puts an adapter around it.
TEST(CudaMovesOfAStranger, LeaveTheAdapterOfAnEntryAlone) {
  const Result<std::string> own =
      read_file(fs::path(KERNELPRO_SOURCE_DIR "/tests/support/entries/row_sums.cu"));
  ASSERT_TRUE(own);
  const std::string block =
      std::string(adapter_begin) +
      "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* "
      "t, int32_t) {\n"
      "  rows::row_sums((const float*)t[0].data, (float*)t[1].data, "
      "context->axes[0], context->axes[1]);\n  return 0;\n}\n" +
      std::string(adapter_end);
  const std::string source = std::string(adapter_head) + *own + block;
  const Result<Playbook> book = cuda_playbook();
  ASSERT_TRUE(book) << book.error().text();
  EXPECT_THAT(moves_for(*book, parent_of(source)),
              IsSupersetOf({"fast_math", "launch_bounds", "unroll_loops", "tune"}));
  std::string text = source;
  for (const std::string& name : cuda_rewriter_names()) {
    const auto rewritten = rewrite_cuda(name, text, {});
    ASSERT_TRUE(rewritten) << rewritten.error().text();
    text = rewritten->front().source;
  }
  const auto parts = take_adapter_off(text);
  ASSERT_TRUE(parts.has_value()) << text;
  EXPECT_EQ(parts->block, block);
  EXPECT_THAT(parts->own, AllOf(HasSubstr("constexpr int KP_BLOCKS_sum_rows"),
                                HasSubstr("#pragma unroll KP_UNROLL_sum_rows")));
  const std::optional<std::string> nvcc = find_nvcc();
  if (!nvcc) {
    GTEST_SKIP() << "there is no nvcc here";
  }
  const Result<ScratchDir> scratch = ScratchDir::create("cuda-moves");
  ASSERT_TRUE(scratch) << scratch.error().text();
  for (const std::string& each : {text, parts->own}) {
    ASSERT_TRUE(write_file_unsynced(scratch->path() / "rewritten.cu", each));
    const Result<Finished> finished =
        compile_for_cuda(*nvcc, scratch->path() / "rewritten.cu", scratch->path() / "out.o");
    ASSERT_TRUE(finished) << finished.error().text();
    EXPECT_TRUE(finished->succeeded()) << each << finished->output << finished->errors;
  }
}

TEST(CudaMovesOfAStranger, ReachASourceWithoutTunables) {
  const Result<Playbook> book = cuda_playbook();
  ASSERT_TRUE(book) << book.error().text();
  const std::set<std::string> moves = moves_for(*book, parent_of(R"(
#include "kernelpro/candidate.h"
__global__ void fill(float* out, int n) {
  for (int i = threadIdx.x; i < n; i += 128) {
    out[i] = 1.0f;
  }
}
extern "C" int kp_launch(const kp_context*, const kp_tensor* t, int32_t) {
  fill<<<1, 128>>>((float*)t[0].data, 5);
  return 0;
}
)"));
  EXPECT_THAT(moves, IsSupersetOf({"fast_math", "launch_bounds", "unroll_loops"}));
  EXPECT_THAT(moves, Not(Contains("tune")));
}

}  // namespace
}  // namespace kernelpro
