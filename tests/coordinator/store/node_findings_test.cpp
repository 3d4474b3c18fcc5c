// Findings of profiled nodes, kept in stores new, old and damaged.
#include <sqlite3.h>

#include "coordinator/store/fixture.hpp"
#include "support/profiles.hpp"

namespace kernelpro {
namespace {

using testing::begun_node;
using testing::error_text;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::judged_node;
using testing::new_run;
using testing::sample_finding;
using ::testing::SizeIs;
using testing::source_of;

Node profiled_node(NodeId id, int findings = 2) {
  Node node = judged_node(id);
  node.diagnosis.kind = KernelClass::dram;
  for (int i = 0; i < findings; ++i) {
    node.diagnosis.findings.push_back(sample_finding());
    node.diagnosis.findings.back().predicted_gain = 2.5 - i + static_cast<double>(id);
  }
  return node;
}

void expect_same_finding(const Finding& read, const Finding& written) {
  EXPECT_EQ(read.tool, written.tool);
  EXPECT_EQ(read.kernel, written.kernel);
  EXPECT_EQ(read.severity, written.severity);
  EXPECT_EQ(read.title, written.title);
  EXPECT_EQ(read.observed, written.observed);
  EXPECT_EQ(read.threshold, written.threshold);
  EXPECT_EQ(read.unit, written.unit);
  EXPECT_EQ(read.why, written.why);
  EXPECT_EQ(read.cause, written.cause);
  EXPECT_EQ(read.moves, written.moves);
  EXPECT_EQ(read.predicted_gain, written.predicted_gain);
  EXPECT_EQ(read.derivation, written.derivation);
  ASSERT_THAT(read.places, SizeIs(written.places.size()));
  for (std::size_t i = 0; i < read.places.size(); ++i) {
    EXPECT_EQ(read.places[i].file, written.places[i].file);
    EXPECT_EQ(read.places[i].line, written.places[i].line);
  }
}

void expect_same_diagnosis(const Node& read, const Node& written) {
  testing::expect_same(read, written);
  EXPECT_EQ(read.diagnosis.kind, written.diagnosis.kind);
  ASSERT_THAT(read.diagnosis.findings, SizeIs(written.diagnosis.findings.size()));
  for (std::size_t i = 0; i < read.diagnosis.findings.size(); ++i) {
    expect_same_finding(read.diagnosis.findings[i], written.diagnosis.findings[i]);
  }
}

class NodeFindingsTest : public testing::StoreTest {
 protected:
  // A run with these nodes, and its id.
  [[nodiscard]] static std::string keep(Store& store, const std::vector<Node>& nodes) {
    auto run = new_run();
    EXPECT_TRUE(store.create_run(run).ok());
    for (const Node& node : nodes) {
      EXPECT_TRUE(store.add_node(run.id, begun_node(node.id), source_of(node.id)).ok());
      const Status finished = store.finish_node(run.id, node, nullptr);
      EXPECT_TRUE(finished.ok()) << finished.error().text();
    }
    return run.id;
  }

  void sql(const std::string& text) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  [[nodiscard]] int tables_of_findings() const {
    sqlite3* handle = nullptr;
    int count = 0;
    EXPECT_EQ(sqlite3_open(file().c_str(), &handle), SQLITE_OK);
    const auto add = [](void* sum, int, char**, char**) { return ++*static_cast<int*>(sum), 0; };
    sqlite3_exec(handle, "SELECT 1 FROM sqlite_master WHERE name = 'findings'", add, &count,
                 nullptr);
    sqlite3_close(handle);
    return count;
  }
};

TEST_F(NodeFindingsTest, AreReadAsTheyWereKept) {
  const std::vector<Node> nodes = {profiled_node(0), judged_node(1), profiled_node(2, 1)};
  std::string run;
  {
    Store store = open();
    run = keep(store, nodes);
  }
  const Store store = open(StoreMode::read);
  const Result<std::vector<Node>> read = store.load_nodes(run);
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_THAT(*read, SizeIs(3));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    expect_same_diagnosis((*read)[i], nodes[i]);
    const Result<Node> one = store.load_node(run, nodes[i].id);
    ASSERT_TRUE(one.ok()) << one.error().text();
    expect_same_diagnosis(*one, nodes[i]);
  }
}

TEST_F(NodeFindingsTest, OfAnUnknownClassAreKeptToo) {
  Node node = profiled_node(0);
  node.diagnosis.kind = KernelClass::unknown;
  Store store = open();
  const std::string run = keep(store, {node});
  const Result<Node> read = store.load_node(run, 0);
  ASSERT_TRUE(read.ok()) << read.error().text();
  expect_same_diagnosis(*read, node);
}

TEST_F(NodeFindingsTest, AProfileWithoutFindingsHasItsClass) {
  Store store = open();
  const std::string run = keep(store, {profiled_node(0, 0)});
  const Result<Node> read = store.load_node(run, 0);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->diagnosis.kind, KernelClass::dram);
  EXPECT_THAT(read->diagnosis.findings, IsEmpty());
}

TEST_F(NodeFindingsTest, BelongToTheirRun) {
  Store store = open();
  const std::string first = keep(store, {profiled_node(0)});
  const std::string second = keep(store, {judged_node(0)});
  EXPECT_THAT(store.load_node(first, 0)->diagnosis.findings, SizeIs(2));
  EXPECT_THAT(store.load_node(second, 0)->diagnosis.findings, IsEmpty());
}

TEST_F(NodeFindingsTest, ANodeThatEndsAgainHasItsLastOnes) {
  Store store = open();
  const std::string run = keep(store, {profiled_node(0, 2)});
  ASSERT_TRUE(store.finish_node(run, profiled_node(0, 1), nullptr).ok());
  EXPECT_THAT(store.load_node(run, 0)->diagnosis.findings, SizeIs(1));
}

// Stores made before there were findings have no table for them.
TEST_F(NodeFindingsTest, AStoreFromBeforeThemIsReadAndWritten) {
  std::string run;
  {
    Store store = open();
    run = keep(store, {judged_node(0)});
  }
  sql("DROP TABLE IF EXISTS findings");
  ASSERT_EQ(tables_of_findings(), 0);
  {
    const Store store = open(StoreMode::read);
    const Result<std::vector<Node>> read = store.load_nodes(run);
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->front().diagnosis.kind, KernelClass::unknown);
  }
  Store store = open();
  ASSERT_TRUE(store.add_node(run, begun_node(1), source_of(1)).ok());
  ASSERT_TRUE(store.finish_node(run, profiled_node(1), nullptr).ok());
  EXPECT_THAT(store.load_node(run, 1)->diagnosis.findings, SizeIs(2));
  EXPECT_EQ(tables_of_findings(), 1);
}

TEST_F(NodeFindingsTest, ThatAreDamagedAreAnErrorAndNotNone) {
  for (const char* json : {"", "{", "[]", "{}", "null", "{\"kind\": \"nonsense\"}"}) {
    std::string run;
    {
      Store store = open();
      run = keep(store, {profiled_node(0)});
    }
    sql("UPDATE findings SET json = '" + std::string(json) + "'");
    {
      const Store store = open(StoreMode::read);
      EXPECT_NE(error_text(store.load_nodes(run)), "no error") << json;
      EXPECT_NE(error_text(store.load_node(run, 0)), "no error") << json;
    }
    std::filesystem::remove_all(folder());
  }
}

TEST_F(NodeFindingsTest, OfANodeThatIsNotThereAreNobodys) {
  std::string run;
  {
    Store store = open();
    run = keep(store, {profiled_node(0), judged_node(2)});
  }
  sql("UPDATE findings SET node = 1");
  const Store store = open(StoreMode::read);
  const Result<std::vector<Node>> read = store.load_nodes(run);
  ASSERT_TRUE(read.ok()) << read.error().text();
  for (const Node& node : *read) {
    EXPECT_THAT(node.diagnosis.findings, IsEmpty());
  }
}

TEST_F(NodeFindingsTest, AnUnknownNodeKeepsNothing) {
  Store store = open();
  const std::string run = keep(store, {judged_node(0)});
  EXPECT_FALSE(store.finish_node(run, profiled_node(7), nullptr).ok());
  EXPECT_EQ(tables_of_findings(), 0) << "what fails leaves nothing";
}

}  // namespace
}  // namespace kernelpro
