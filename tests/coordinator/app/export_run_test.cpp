#include "coordinator/app/export_run.hpp"

#include "coordinator/app/opening.hpp"
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
  ExportRequest request;
  {
    Store store = open();
    auto run = testing::new_run();
    ASSERT_TRUE(store.create_run(run).ok());
    request.what.run = run.id;
    for (const NodeId id : {own, foreign}) {
      ASSERT_TRUE(store.add_node(run.id, testing::begun_node(id), testing::source_of(id)).ok());
      Certificate certificate = testing::certificate_of(own);
      certificate.candidate.backend = Backend::cpu;
      certificate.task = *wave;
      certificate.verdict.timing.shapes.resize(1);
      certificate.verdict.timing.shapes.front().shape = wave->timed_shapes.front();
      ASSERT_TRUE(store.finish_node(run.id, testing::judged_node(id), &certificate).ok());
    }
  }
  request.what.store = folder();
  request.what.node = foreign;
  request.directory = scratch_->path() / "home";
  const Result<Exported> refused = export_run(request);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text(),
              HasSubstr("run nearest-1, node 2: its certificate is of another source"));
  EXPECT_FALSE(fs::exists(request.directory));
  request.what.node = own;
  EXPECT_TRUE(export_run(request).ok());
}

}  // namespace
}  // namespace kernelpro
