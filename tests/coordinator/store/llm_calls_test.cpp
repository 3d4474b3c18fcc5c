// Calls of models, kept in stores new, old and damaged.
#include <sqlite3.h>

#include "common/wire/llm_json.hpp"
#include "coordinator/store/fixture.hpp"

namespace kernelpro {
namespace {

using testing::error_text;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using testing::new_run;
using ::testing::SizeIs;

// With no field at its default.
LlmCall sample_call(int node) {
  LlmCall call;
  call.id = std::to_string(node) + ".fixer.2";
  call.node = node;
  call.role = LlmRole::fixer;
  call.turn = 2;
  call.state = CallState::answered;
  call.provider = "anthropic";
  call.model = "model – ünïcode";
  call.answered_by = "model-2026";
  call.request = "{\"messages\": [\"" + std::string(5000, 'x') + "\"]}";
  call.answer = std::string("{\"text\": \"code\0\"}", 17);
  call.failure = "none";
  call.started = "2026-03-01T12:00:00Z";
  call.latency_ns = 12'345'678'901;
  call.usage = {.input = 4, .cached = 3, .cache_written = 1, .output = 2};
  call.reserved = {.input = 40, .cached = 30, .cache_written = 10, .output = 20};
  call.cost = 9'876'543'210;
  call.priced = true;
  return call;
}

void expect_same(const LlmCall& read, const LlmCall& written) {
  EXPECT_EQ(to_json(read), to_json(written));
  EXPECT_EQ(read.request, written.request);
  EXPECT_EQ(read.answer, written.answer);
}

class LlmCallsTest : public testing::StoreTest {
 protected:
  [[nodiscard]] static std::string begin_run(Store& store) {
    auto run = new_run();
    EXPECT_TRUE(store.create_run(run).ok());
    return run.id;
  }
  static void keep(Store& store, const std::string& run, const LlmCall& call) {
    const Status kept = store.keep_llm_call(run, call);
    ASSERT_TRUE(kept.ok()) << kept.error().text();
  }
  [[nodiscard]] static std::vector<LlmCall> calls_of(const Store& store, const std::string& run) {
    const Result<std::vector<LlmCall>> calls = store.load_llm_calls(run);
    EXPECT_TRUE(calls.ok()) << error_text(calls);
    return calls ? *calls : std::vector<LlmCall>();
  }
  void sql(const std::string& text) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }
};

TEST_F(LlmCallsTest, AreReadAsTheyWereKept) {
  std::string run;
  {
    Store store = open();
    run = begin_run(store);
    keep(store, run, sample_call(3));
  }
  const std::vector<LlmCall> read = calls_of(open(StoreMode::read), run);
  ASSERT_THAT(read, SizeIs(1));
  expect_same(read[0], sample_call(3));
}

TEST_F(LlmCallsTest, OneOfTheSameIdTakesThePlaceOfTheFormer) {
  Store store = open();
  const std::string run = begin_run(store);
  LlmCall waiting = sample_call(3);
  waiting.state = CallState::waiting;
  waiting.answer.clear();
  keep(store, run, waiting);
  keep(store, run, sample_call(4));
  keep(store, run, sample_call(3));
  std::vector<LlmCall> read = calls_of(store, run);
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].id, "3.fixer.2") << "in the order in which they were first kept";
  expect_same(read[0], sample_call(3));
  LlmCall other = sample_call(3);
  other.request = "{}";
  keep(store, run, other);
  read = calls_of(store, run);
  ASSERT_THAT(read, SizeIs(2));
  expect_same(read[0], other);
}

TEST_F(LlmCallsTest, SayWhichNodesModelsWereAskedFor) {
  Store store = open();
  const std::string run = begin_run(store);
  for (const NodeId id : {1, 2}) {
    ASSERT_TRUE(store.add_node(run, testing::begun_node(id), testing::source_of(id)).ok());
  }
  EXPECT_FALSE(store.load_node(run, 2)->by_models);
  keep(store, begin_run(store), sample_call(1));
  keep(store, run, sample_call(2));
  const Result<std::vector<Node>> nodes = store.load_nodes(run);
  ASSERT_TRUE(nodes) << error_text(nodes);
  EXPECT_FALSE(nodes->at(0).by_models);
  EXPECT_TRUE(nodes->at(1).by_models);
  EXPECT_TRUE(store.load_node(run, 2)->by_models);
}

TEST_F(LlmCallsTest, BelongToTheirRun) {
  Store store = open();
  const std::string first = begin_run(store);
  const std::string second = begin_run(store);
  keep(store, first, sample_call(1));
  EXPECT_THAT(calls_of(store, first), SizeIs(1));
  EXPECT_THAT(calls_of(store, second), IsEmpty());
  EXPECT_THAT(error_text(store.keep_llm_call("nobody-1", sample_call(1))),
              HasSubstr("there is no run 'nobody-1'"));
  EXPECT_THAT(error_text(store.load_llm_calls("nobody-1")),
              HasSubstr("there is no run 'nobody-1'"));
}

TEST_F(LlmCallsTest, LargeRequestsAreKeptSmall) {
  {
    Store store = open();
    const std::string run = begin_run(store);
    for (int i = 0; i < 20; ++i) {
      LlmCall call = sample_call(i);
      call.request = "{\"" + std::string(200'000, 'y') + "\": 1}";
      keep(store, run, call);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(file().string() + "-wal")) << "all is in the file";
  EXPECT_THAT(std::filesystem::file_size(file()), Lt(20U * 200'000U / 10U));
}

// Stores made before there were such calls have no table for them.
TEST_F(LlmCallsTest, AStoreFromBeforeThemIsReadAndWritten) {
  std::string run;
  {
    Store store = open();
    run = begin_run(store);
  }
  EXPECT_THAT(calls_of(open(StoreMode::read), run), IsEmpty());
  Store store = open();
  keep(store, run, sample_call(1));
  EXPECT_THAT(calls_of(store, run), SizeIs(1));
}

TEST_F(LlmCallsTest, ThatAreDamagedAreAnErrorWhichNamesTheCall) {
  for (const char* damage : {"json = ''", "json = '{}'", "json = replace(json, 'fixer', 'cook')",
                             "request = x'00'", "answer = x'789c'"}) {
    std::string run;
    {
      Store store = open();
      run = begin_run(store);
      keep(store, run, sample_call(1));
    }
    sql(std::string("UPDATE llm_calls SET ") + damage);
    EXPECT_THAT(error_text(open(StoreMode::read).load_llm_calls(run)),
                HasSubstr("the kept call 1.fixer.2 of a model cannot be read"))
        << damage;
    std::filesystem::remove_all(folder());
  }
}

TEST_F(LlmCallsTest, AKilledProcessLosesNoCallThatWasKept) {
  std::string run;
  {
    Store store = open();
    run = begin_run(store);
  }
  const pid_t child = testing::in_process([&]() -> bool {
    Store store = open();
    const bool kept = store.keep_llm_call(run, sample_call(1)).ok();
    ::_exit(kept ? 7 : 1);  // without closing anything
  });
  EXPECT_EQ(testing::exit_code_of(child), 7);
  EXPECT_THAT(calls_of(open(), run), SizeIs(1));
}

}  // namespace
}  // namespace kernelpro
