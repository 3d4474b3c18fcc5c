#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/opening.hpp"
#include "coordinator/store/fixture.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ExportRun : public testing::StoreTest {};

// A store that took in an answer to another order once, or was put together from two.
TEST_F(ExportRun, NeverWritesASourceThatTheRunDidNotPropose) {
  constexpr NodeId own = 1;
  constexpr NodeId foreign = 2;
  const Result<Task> wave = load_named_task(KERNELPRO_SOURCE_DIR "/tests/cli/data/wave");
  ASSERT_TRUE(wave.ok()) << wave.error().text();
  Options options;
  {
    Store store = open();
    auto run = testing::new_run();
    ASSERT_TRUE(store.create_run(run).ok());
    options.run = run.id;
    for (const NodeId id : {own, foreign}) {
      ASSERT_TRUE(store.add_node(run.id, testing::begun_node(id), testing::source_of(id)).ok());
      Certificate certificate = testing::certificate_of(own);
      certificate.candidate.backend = "cpu";
      certificate.task = *wave;
      certificate.verdict.timing.shapes.resize(1);
      certificate.verdict.timing.shapes.front().shape = wave->timed_shapes.front();
      ASSERT_TRUE(store.finish_node(run.id, testing::judged_node(id), &certificate).ok());
    }
  }
  options.store = folder();
  options.accept_suspect = true;
  options.node = foreign;
  options.export_directory = scratch_->path() / "home";
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(export_run(options), exit_bad_input);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("run nearest-1, node 2: its certificate is of another source"));
  EXPECT_FALSE(fs::exists(options.export_directory));
  options.node = own;
  EXPECT_EQ(export_run(options), exit_done);
}

}  // namespace
}  // namespace kernelpro
