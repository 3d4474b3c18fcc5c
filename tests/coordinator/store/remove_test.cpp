// Runs taken out of a store.
#include "coordinator/store/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class RemoveRun : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(folder_.ok()) << folder_.error().text(); }

  [[nodiscard]] Store open() const {
    Result<Store> store = Store::open(folder_->path() / "store", StoreMode::write);
    EXPECT_TRUE(store.ok()) << store.error().text();
    return std::move(*store);
  }

  // A run whose nodes have these numbers, and so their sources.
  static std::string make(Store& store, const std::vector<NodeId>& nodes) {
    kernelpro::Run run = new_run();
    const Result<RunLock> lock = store.create_run(run);
    EXPECT_TRUE(lock.ok()) << lock.error().text();
    for (const NodeId node : nodes) {
      EXPECT_TRUE(store.add_node(run.id, begun_node(node), source_of(node)).ok());
      const Certificate certificate = certificate_of(node);
      EXPECT_TRUE(store.finish_node(run.id, judged_node(node), &certificate).ok());
    }
    EXPECT_TRUE(store.add_closure(run.id, {nodes.front(), 1, "no more"}).ok());
    return run.id;
  }

  static bool has_source(const Store& store, NodeId node) {
    return store.load_source(sha256(source_of(node))).ok();
  }

 private:
  Result<ScratchDir> folder_ = ScratchDir::create("remove-test");
};

TEST_F(RemoveRun, TakesWhatOnlyItHasAndNothingElse) {
  Store store = open();
  const std::string first = make(store, {0, 1, 2});
  const std::string second = make(store, {0, 2, 3});
  const Status removed = store.remove_run(first);
  ASSERT_TRUE(removed.ok()) << removed.error().text();
  const auto runs = store.list_runs();
  ASSERT_TRUE(runs.ok());
  ASSERT_THAT(*runs, SizeIs(1));
  EXPECT_EQ(runs->front().id, second);
  EXPECT_FALSE(has_source(store, 1));
  for (const NodeId node : {0, 2, 3}) {
    EXPECT_TRUE(has_source(store, node)) << node;
    const auto certificate = store.load_certificate(second, node);
    ASSERT_TRUE(certificate.ok()) << certificate.error().text();
    EXPECT_TRUE(certificate->has_value());
  }
  EXPECT_THAT(store.load_run(first).error().text(), HasSubstr("there is no run"));
}

TEST_F(RemoveRun, AnIdThatIsFreeAgainStartsFromNothing) {
  Store store = open();
  const std::string first = make(store, {0, 1});
  ASSERT_TRUE(store.remove_run(first).ok());
  EXPECT_EQ(make(store, {0}), first);
  const auto nodes = store.load_nodes(first);
  ASSERT_TRUE(nodes.ok());
  EXPECT_THAT(*nodes, SizeIs(1));
  EXPECT_TRUE(has_source(store, 0));
  const auto closures = store.load_closures(first);
  ASSERT_TRUE(closures.ok());
  EXPECT_THAT(*closures, SizeIs(1));
}

TEST_F(RemoveRun, RefusesARunThatIsHeldAndNamesTheHolder) {
  Store store = open();
  const std::string first = make(store, {0, 1});
  Store other = open();
  const Result<RunLock> held = other.lock_run(first);
  ASSERT_TRUE(held.ok());
  const Status refused = store.remove_run(first);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text(), HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_TRUE(store.load_run(first).ok());
  EXPECT_FALSE(store.remove_run("lost-1").ok());
}

TEST_F(RemoveRun, KeepsSourcesWhileSomebodyWorksOnAnotherRun) {
  Store store = open();
  const std::string first = make(store, {0, 1});
  const std::string second = make(store, {0});
  Store other = open();
  const Result<RunLock> held = other.lock_run(second);
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(store.remove_run(first).ok());
  EXPECT_TRUE(has_source(store, 1));
  // What that process was about to do.
  EXPECT_TRUE(other.add_node(second, begun_node(1), source_of(1)).ok());
}

}  // namespace
}  // namespace kernelpro
