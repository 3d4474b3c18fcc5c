#include "coordinator/store/store.hpp"

#include <cmath>

#include "common/base/set_variable.hpp"
#include "common/wire/run_json.hpp"
#include "coordinator/store/fixture.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::begun_node;
using testing::certificate_of;
using ::testing::ElementsAre;
using testing::error_text;
using testing::expect_same;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::judged_node;
using testing::new_run;
using testing::source_of;
using testing::StoreTest;

TEST_F(StoreTest, RunSurvivesARoundTrip) {
  auto run = new_run();
  run.settings.seed = std::numeric_limits<std::uint64_t>::max();
  {
    Store store = open();
    ASSERT_TRUE(store.create_run(run).ok());
  }
  EXPECT_EQ(run.id, "nearest-1");
  const Result<kernelpro::Run> read = open(StoreMode::read).load_run("nearest-1");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->id, run.id);
  EXPECT_EQ(read->created, run.created);
  EXPECT_EQ(read->program_version, run.program_version);
  EXPECT_EQ(to_json(read->task), to_json(run.task));
  EXPECT_EQ(read->task_hash, run.task_hash);
  EXPECT_EQ(read->task_path, run.task_path);
  EXPECT_EQ(to_json(read->settings), to_json(run.settings));
  EXPECT_EQ(read->state, RunState::interrupted) << "nobody works on it";
  EXPECT_EQ(read->ended_because, "");
  EXPECT_EQ(read->machine, run.machine);
}

TEST_F(StoreTest, PathsOfARunMoveWithTheFolderOfTheStore) {
  const fs::path before = scratch_->path() / "before";
  const fs::path after = scratch_->path() / "after" / "deeper";
  auto run = new_run();
  run.task_path = before / "tasks/nearest";
  run.settings.workers.scheme = WorkerScheme::bundle;
  run.settings.workers.file = before / "jobs";
  run.settings.llm.emplace().llm = "batch:" + (before / "asked").string();
  run.settings.llm->roles[LlmRole::fixer].llm = "openai:some";
  run.settings.llm->roles[LlmRole::coder].llm = "replay:" + (before / "answers").string();
  run.settings.llm->prompts = before / "prompts";
  run.settings.llm->key_file = "/keys/mine";
  {
    Result<Store> store = Store::open(before / "store", StoreMode::write);
    ASSERT_TRUE(store.ok()) << store.error().text();
    ASSERT_TRUE(store->create_run(run).ok());
    ASSERT_TRUE(store->save_run(run).ok());
  }
  fs::create_directories(after.parent_path());
  fs::rename(before, after);
  const Result<Store> store = Store::open(after / "store", StoreMode::read);
  ASSERT_TRUE(store.ok()) << store.error().text();
  const Result<kernelpro::Run> read = store->load_run(run.id);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->task_path, after / "tasks/nearest");
  EXPECT_EQ(read->settings.workers.file, after / "jobs");
  EXPECT_EQ(read->settings.llm->llm, "batch:" + (after / "asked").string());
  EXPECT_EQ(read->settings.llm->roles.at(LlmRole::fixer).llm, "openai:some");
  EXPECT_EQ(read->settings.llm->roles.at(LlmRole::coder).llm,
            "replay:" + (after / "answers").string());
  EXPECT_EQ(read->settings.llm->prompts, after / "prompts");
  EXPECT_EQ(read->settings.llm->key_file, "/keys/mine");
}

TEST_F(StoreTest, RunsAreNumberedByTask) {
  Store store = open();
  std::vector<std::string> ids;
  for (const char* task : {"gemm", "gemm", "gemm_long", "gemm", "odd/name"}) {
    auto run = new_run(task);
    ASSERT_TRUE(store.create_run(run).ok());
    ids.push_back(run.id);
  }
  EXPECT_THAT(ids, ElementsAre("gemm-1", "gemm-2", "gemm_long-1", "gemm-3", "odd_name-1"));
}

TEST_F(StoreTest, SavedRunHasItsNewStateTimesAndSettings) {
  Store store = open();
  auto run = new_run();
  ASSERT_TRUE(store.create_run(run).ok());
  run.state = RunState::finished;
  run.ended_because = "budget of 50 evaluations";
  run.wall_ns = 5;
  run.work_ns = 4;
  run.settings.evaluations = 60;
  run.best = 4;
  run.final_phases = 3;
  ASSERT_TRUE(store.save_run(run).ok());
  const Result<kernelpro::Run> read = store.load_run(run.id);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->state, RunState::finished);
  EXPECT_EQ(read->ended_because, "budget of 50 evaluations");
  EXPECT_EQ(read->wall_ns, 5);
  EXPECT_EQ(read->work_ns, 4);
  EXPECT_EQ(read->settings.evaluations, 60);
  EXPECT_EQ(read->best, 4);
  EXPECT_EQ(read->final_phases, 3);
}

TEST_F(StoreTest, ARankingIsKeptReplacedAndForgottenWithItsRun) {
  Store store = open();
  auto run = new_run();
  auto other = new_run();
  ASSERT_TRUE(store.create_run(run).ok());
  ASSERT_TRUE(store.create_run(other).ok());
  ASSERT_TRUE(store.save_run(other).ok());
  EXPECT_THAT(store.load_run(run.id)->ranking, IsEmpty());
  run.ranking.resize(2);
  run.ranking[0].node = 7;
  run.ranking[0].energy_ratio = 0.75;
  run.ranking[1].node = 3;
  ASSERT_TRUE(store.save_run(run).ok());
  const Result<kernelpro::Run> read = open(StoreMode::read).load_run(run.id);
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->ranking.size(), 2U);
  EXPECT_EQ(read->ranking[0].node, 7);
  EXPECT_EQ(read->ranking[0].energy_ratio, 0.75);
  EXPECT_THAT(store.load_run(other.id)->ranking, IsEmpty());
  run.ranking.resize(1);
  ASSERT_TRUE(store.save_run(run).ok());
  EXPECT_EQ(store.load_run(run.id)->ranking.size(), 1U);
  run.ranking.clear();
  ASSERT_TRUE(store.save_run(run).ok());
  EXPECT_THAT(store.load_run(run.id)->ranking, IsEmpty());
}

TEST_F(StoreTest, UnknownRunNamesTheRunsThereAre) {
  Store store = open();
  EXPECT_THAT(error_text(store.load_run("gem-1")),
              HasSubstr("there is no run 'gem-1', and no other yet"));
  for (int i = 0; i < 2; ++i) {
    auto run = new_run("gemm");
    ASSERT_TRUE(store.create_run(run).ok());
  }
  auto never = new_run();
  never.id = "gem-1";
  const std::string expected = "there is no run 'gem-1'; the latest are gemm-2, gemm-1";
  EXPECT_THAT(error_text(store.load_run("gem-1")), HasSubstr(expected));
  EXPECT_THAT(error_text(store.lock_run("gem-1")), HasSubstr(expected));
  EXPECT_THAT(error_text(store.save_run(never)), HasSubstr(expected));
  EXPECT_THAT(error_text(store.load_nodes("gem-1")), HasSubstr(expected));
  EXPECT_THAT(error_text(store.load_closures("gem-1")), HasSubstr(expected));
  EXPECT_THAT(error_text(store.load_certificate("gem-1", 0)), HasSubstr(expected));
  EXPECT_THAT(error_text(store.add_node("gem-1", begun_node(0), source_of(0))),
              HasSubstr(expected));
  EXPECT_THAT(error_text(store.finish_node("gem-1", judged_node(0), nullptr)), HasSubstr(expected));
  EXPECT_EQ(store.load_run("gem-1").error().kind, ErrorKind::bad_input);
}

TEST_F(StoreTest, NodeIsThereFromItsBeginningAndThenWithItsVerdict) {
  Store store = open();
  auto run = new_run();
  ASSERT_TRUE(store.create_run(run).ok());
  ASSERT_TRUE(store.add_node(run.id, begun_node(3), source_of(3)).ok());
  const Result<Node> begun = store.load_node(run.id, 3);
  ASSERT_TRUE(begun.ok()) << begun.error().text();
  expect_same(*begun, begun_node(3));
  EXPECT_EQ(begun->state, NodeState::in_flight);

  Node node = judged_node(3);
  node.precision = "bf16";
  node.suspect = true;
  node.verified = false;
  ASSERT_TRUE(store.finish_node(run.id, node, nullptr).ok());
  const Result<Node> judged = store.load_node(run.id, 3);
  ASSERT_TRUE(judged.ok()) << judged.error().text();
  expect_same(*judged, node);
}

TEST_F(StoreTest, NodesComeInTheOrderOfTheirIdsAndOfTheirRunOnly) {
  Store store = open();
  auto first = new_run();
  auto second = new_run();
  ASSERT_TRUE(store.create_run(first).ok());
  ASSERT_TRUE(store.create_run(second).ok());
  for (const NodeId id : {2, 0, 1}) {
    ASSERT_TRUE(store.add_node(first.id, begun_node(id), source_of(id)).ok());
  }
  ASSERT_TRUE(store.add_node(second.id, begun_node(0), source_of(0)).ok());
  const Result<std::vector<Node>> nodes = store.load_nodes(first.id);
  ASSERT_TRUE(nodes.ok());
  ASSERT_EQ(nodes->size(), 3U);
  for (NodeId id = 0; id < 3; ++id) {
    expect_same((*nodes)[static_cast<std::size_t>(id)], begun_node(id));
  }
  EXPECT_EQ(store.load_nodes(second.id)->size(), 1U);
}

TEST_F(StoreTest, NodeWithoutListsAndWithOddHashesSurvives) {
  Store store = open();
  auto run = new_run();
  ASSERT_TRUE(store.create_run(run).ok());
  Node node = begun_node(1);
  node.reasons = {};
  node.options = {};
  node.candidate_key = std::string(63, 'a') + "G";
  node.binary_hash = "";
  ASSERT_TRUE(store.add_node(run.id, node, source_of(1)).ok());
  const Result<Node> read = store.load_node(run.id, 1);
  ASSERT_TRUE(read.ok()) << read.error().text();
  expect_same(*read, node);
}

TEST_F(StoreTest, NumberThatIsNoneStaysNone) {
  Store store = open();
  auto run = new_run();
  ASSERT_TRUE(store.create_run(run).ok());
  Node node = begun_node(1);
  node.speedup = std::numeric_limits<double>::quiet_NaN();
  node.predicted_gain = std::numeric_limits<double>::infinity();
  ASSERT_TRUE(store.add_node(run.id, node, source_of(1)).ok());
  const Result<Node> read = store.load_node(run.id, 1);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(std::isnan(read->speedup));
  EXPECT_TRUE(std::isinf(read->predicted_gain));
}

TEST_F(StoreTest, UnknownNodeIsAnErrorThatNamesIt) {
  Store store = open();
  auto run = new_run();
  ASSERT_TRUE(store.create_run(run).ok());
  EXPECT_EQ(error_text(store.load_node(run.id, 5)), "the run nearest-1 has no node 5");
  EXPECT_EQ(error_text(store.load_certificate(run.id, 5)), "the run nearest-1 has no node 5");
  const Certificate certificate = certificate_of(5);
  EXPECT_EQ(error_text(store.finish_node(run.id, judged_node(5), &certificate)),
            "the run nearest-1 has no node 5");
  EXPECT_TRUE(store.add_node(run.id, begun_node(5), source_of(5)).ok())
      << "the failed call left something behind";
  EXPECT_FALSE(store.add_node(run.id, begun_node(5), source_of(5)).ok()) << "the node is there";
}

TEST_F(StoreTest, SourcesLieByTheirHashAndAreCheckedWhenRead) {
  Store store = open();
  auto run = new_run();
  ASSERT_TRUE(store.create_run(run).ok());
  const std::string source("any \xff bytes\0inside", 18);
  Node node = begun_node(1);
  node.source_hash = sha256(source);
  ASSERT_TRUE(store.add_node(run.id, node, source).ok());
  EXPECT_EQ(*store.load_source(node.source_hash), source);
  const fs::path file =
      folder() / "sources" / node.source_hash.substr(0, 2) / (node.source_hash.substr(2) + ".cpp");
  EXPECT_EQ(*read_file(file), source);

  ASSERT_TRUE(write_file_unsynced(file, "changed").ok());
  EXPECT_THAT(error_text(store.load_source(node.source_hash)),
              AllOf(HasSubstr(file.string()), HasSubstr("damaged")));
  EXPECT_THAT(error_text(store.load_source(std::string(64, '0'))), HasSubstr("No such file"));
  EXPECT_THAT(error_text(store.load_source("../../etc/passwd")),
              HasSubstr("expected 64 hexadecimal digits"));
}

TEST_F(StoreTest, SourceThatDoesNotFitItsHashIsRefused) {
  Store store = open();
  auto run = new_run();
  ASSERT_TRUE(store.create_run(run).ok());
  EXPECT_THAT(error_text(store.add_node(run.id, begun_node(1), "another source")),
              HasSubstr("the node says '" + begun_node(1).source_hash + "'"));
  EXPECT_THAT(*store.load_nodes(run.id), IsEmpty());
}

TEST_F(StoreTest, ClosuresComeInTheOrderOfEvents) {
  Store store = open();
  auto run = new_run();
  ASSERT_TRUE(store.create_run(run).ok());
  ASSERT_TRUE(store.add_closure(run.id, {2, 9, "nothing left to propose"}).ok());
  ASSERT_TRUE(store.add_closure(run.id, {0, 4, "dead end"}).ok());
  const Result<std::vector<Closure>> closures = store.load_closures(run.id);
  ASSERT_TRUE(closures.ok());
  ASSERT_EQ(closures->size(), 2U);
  EXPECT_EQ(closures->front().node, 0);
  EXPECT_EQ(closures->front().at, 4);
  EXPECT_EQ(closures->front().reason, "dead end");
  EXPECT_EQ(closures->back().node, 2);
}

TEST_F(StoreTest, ListShowsEvaluationsAndTheBestThatMayBeCalledSo) {
  Store store = open();
  auto run = new_run();
  {
    const Result<RunLock> lock = store.create_run(run);
    ASSERT_TRUE(lock.ok());
    EXPECT_TRUE(store.list_runs()->front().locked);
    EXPECT_EQ(store.list_runs()->front().state, RunState::running);
    EXPECT_EQ(store.load_run(run.id)->state, RunState::running);
  }
  const auto judge = [&](NodeId id, double speedup, auto change) {
    Node node = judged_node(id, speedup);
    change(node);
    ASSERT_TRUE(store.add_node(run.id, begun_node(id), source_of(id)).ok());
    ASSERT_TRUE(store.finish_node(run.id, node, nullptr).ok());
  };
  EXPECT_EQ(store.list_runs()->front().best, no_node);
  judge(0, 1.0, [](Node&) {});
  judge(1, 3.0, [](Node&) {});
  judge(2, 9.0, [](Node& node) { node.suspect = true; });
  judge(3, 8.0, [](Node& node) { node.precision = "bf16"; });
  judge(4, 7.0, [](Node& node) { node.outcome = Outcome::incorrect; });
  judge(5, 6.0, [](Node& node) { node.state = NodeState::duplicate; });
  ASSERT_TRUE(store.add_node(run.id, begun_node(6), source_of(6)).ok());
  const RunSummary summary = store.list_runs()->front();
  EXPECT_EQ(summary.id, "nearest-1");
  EXPECT_EQ(summary.task, "nearest");
  EXPECT_EQ(summary.created, run.created);
  EXPECT_EQ(summary.state, RunState::interrupted);
  EXPECT_FALSE(summary.locked);
  EXPECT_EQ(summary.search, "greedy");
  EXPECT_EQ(summary.evaluations, 4);
  EXPECT_EQ(summary.budget, 50);
  EXPECT_EQ(summary.best, 1);
  EXPECT_EQ(summary.best_speedup, 3.0);
  EXPECT_TRUE(summary.best_at_least);

  run.settings.allow_precision = {"bf16"};
  ASSERT_TRUE(store.save_run(run).ok());
  EXPECT_EQ(store.list_runs()->front().best, 3);
  run.settings.accept_suspect = true;
  ASSERT_TRUE(store.save_run(run).ok());
  EXPECT_EQ(store.list_runs()->front().best, 2);
  run.state = RunState::finished;
  run.best = 1;
  ASSERT_TRUE(store.save_run(run).ok());
  EXPECT_EQ(store.list_runs()->front().best, 1) << "a finished run has said which it is";
  EXPECT_EQ(store.list_runs()->front().best_speedup, 3.0);
}

TEST_F(StoreTest, FolderIsTheGivenOneThenTheVariableThenTheNearestUpwards) {
  const fs::path root = fs::canonical(scratch_->path());
  fs::create_directories(root / "a/b/c");
  fs::create_directories(root / "a/.kernelpro");
  const fs::path before = fs::current_path();
  fs::current_path(root / "a/b/c");
  {
    const SetVariable variable("KERNELPRO_STORE", "/from/variable");
    EXPECT_EQ(store_directory("given"), "given");
    EXPECT_EQ(store_directory(""), "/from/variable");
  }
  const SetVariable variable("KERNELPRO_STORE", "");
  EXPECT_EQ(store_directory(""), root / "a/.kernelpro");
  fs::remove(root / "a/.kernelpro");
  // What is above the scratch folder is not ours to know.
  const fs::path nearest = store_directory("");
  EXPECT_EQ(nearest.filename(), ".kernelpro");
  EXPECT_TRUE(nearest == "./.kernelpro" || fs::is_directory(nearest)) << nearest;
  fs::current_path(before);
}

}  // namespace
}  // namespace kernelpro
