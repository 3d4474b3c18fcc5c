// Several processes at one store, and processes that are killed at it.
#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <ctime>

#include "common/base/random.hpp"
#include "common/base/unique_fd.hpp"
#include "coordinator/store/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using testing::begun_node;
using testing::certificate_of;
using testing::error_text;
using testing::exit_code_of;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::in_process;
using testing::judged_node;
using testing::new_run;
using testing::source_of;
using testing::StoreTest;

struct Ends {
  UniqueFd read;
  UniqueFd write;
};

Ends make_ends() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

bool say(const Ends& ends, char letter) {
  return ::write(ends.write.get(), &letter, 1) == 1;
}

// The next letter; 0 when the other process is gone.
char hear(const Ends& ends) {
  char letter = 0;
  return ::read(ends.read.get(), &letter, 1) == 1 ? letter : '\0';
}

TEST_F(StoreTest, SecondTakerIsToldWhoHoldsTheRunAndWhatToDo) {
  Store store = open();
  auto run = new_run();
  std::optional<Result<RunLock>> lock = store.create_run(run);
  ASSERT_TRUE(lock->ok());
  const Result<RunLock> refused = store.lock_run(run.id);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::environment);
  const std::string pid = std::to_string(::getpid());
  EXPECT_THAT(
      refused.error().message,
      AllOf(HasSubstr("process " + pid + " on "),
            HasSubstr("is working on the run nearest-1: wait for it, or end it (kill -INT " + pid +
                      ") and resume the run")));
  lock.reset();
  EXPECT_TRUE(store.lock_run(run.id).ok());
}

TEST_F(StoreTest, HolderThatIsUnknownIsNotInvented) {
  Store store = open();
  auto run = new_run();
  const Result<RunLock> lock = store.create_run(run);
  ASSERT_TRUE(lock.ok());
  ASSERT_EQ(::truncate((folder() / "locks/nearest-1.lock").c_str(), 0), 0);
  EXPECT_THAT(error_text(store.lock_run(run.id)),
              HasSubstr("another process is working on the run nearest-1"));
}

TEST_F(StoreTest, MovedLockStaysHeldAndAnOverwrittenOneIsGivenBack) {
  Store store = open();
  auto first = new_run();
  auto second = new_run();
  Result<RunLock> lock = store.create_run(first);
  Result<RunLock> other = store.create_run(second);
  ASSERT_TRUE(lock.ok() && other.ok());
  RunLock moved(std::move(*lock));
  EXPECT_FALSE(store.lock_run(first.id).ok());
  moved = std::move(*other);
  EXPECT_TRUE(store.lock_run(first.id).ok());
  EXPECT_FALSE(store.lock_run(second.id).ok());
}

TEST_F(StoreTest, LockOfAKilledProcessIsFree) {
  const Ends ends = make_ends();
  const pid_t holder = in_process([&] {
    Store store = open();
    auto run = new_run();
    const Result<RunLock> lock = store.create_run(run);
    return say(ends, lock.ok() ? 'y' : 'n') && ::pause() == 0;
  });
  EXPECT_EQ(hear(ends), 'y');
  Store store = open();
  EXPECT_TRUE(store.list_runs()->front().locked);
  EXPECT_THAT(error_text(store.lock_run("nearest-1")),
              HasSubstr("process " + std::to_string(holder)));
  ::kill(holder, SIGKILL);
  exit_code_of(holder);
  EXPECT_FALSE(store.list_runs()->front().locked);
  EXPECT_TRUE(store.lock_run("nearest-1").ok());
}

TEST_F(StoreTest, ReaderSeesWhatAnotherProcessWritesMeanwhile) {
  auto run = new_run();
  Store writer = open();
  ASSERT_TRUE(writer.create_run(run).ok());
  const Ends to_reader = make_ends();
  const Ends from_reader = make_ends();
  const pid_t reader = in_process([&] {
    const Store store = open(StoreMode::read);
    const bool before = store.load_nodes(run.id)->empty();
    say(from_reader, before ? 'y' : 'n');
    hear(to_reader);
    return before && store.load_nodes(run.id)->size() == 1;
  });
  EXPECT_EQ(hear(from_reader), 'y');
  EXPECT_TRUE(writer.add_node(run.id, begun_node(0), source_of(0)).ok());
  say(to_reader, 'g');
  EXPECT_EQ(exit_code_of(reader), 0);
}

// Also of the making of the store itself: nobody has opened it before.
TEST_F(StoreTest, ProcessesThatWriteAtTheSameTimeLoseNothing) {
  constexpr int processes = 3;
  constexpr NodeId nodes = 8;
  std::vector<pid_t> writers;
  for (int i = 0; i < processes; ++i) {
    writers.push_back(in_process([&] {
      Store store = open();
      auto run = new_run();
      const Result<RunLock> lock = store.create_run(run);
      bool good = lock.ok();
      for (NodeId id = 0; id < nodes; ++id) {
        const Certificate certificate = certificate_of(id);
        good = good && store.add_node(run.id, begun_node(id), source_of(id)).ok() &&
               store.finish_node(run.id, judged_node(id), &certificate).ok();
      }
      return good;
    }));
  }
  for (const pid_t writer : writers) {
    EXPECT_EQ(exit_code_of(writer), 0);
  }
  const Store store = open(StoreMode::read);
  const Result<std::vector<RunSummary>> runs = store.list_runs();
  ASSERT_TRUE(runs.ok()) << runs.error().text();
  ASSERT_EQ(runs->size(), static_cast<std::size_t>(processes));
  for (const RunSummary& run : *runs) {
    EXPECT_EQ(run.evaluations, nodes - 1) << run.id;
  }
}

// Each one may look at the file while another is making its tables.
TEST_F(StoreTest, ProcessesThatMakeAStoreAtTheSameTimeMakeOne) {
  constexpr int rounds = 40;
  std::vector<pid_t> makers;
  for (int i = 0; i < 3; ++i) {
    makers.push_back(in_process([&] {
      bool good = true;
      for (int round = 0; round < rounds; ++round) {
        const Result<Store> store = Store::open(folder() / std::to_string(round), StoreMode::write);
        good = good && store.ok();
      }
      return good;
    }));
  }
  for (const pid_t maker : makers) {
    EXPECT_EQ(exit_code_of(maker), 0);
  }
}

// Adds and finishes nodes one after another, saying 'a' and 'f' when the store has answered.
bool write_until_killed(const std::filesystem::path& folder, const Ends& ends) {
  Result<Store> store = Store::open(folder, StoreMode::write);
  if (!store) {
    return false;
  }
  auto run = new_run();
  const Result<RunLock> lock = store->create_run(run);
  bool good = lock.ok() && say(ends, 'r');
  for (NodeId id = 0; good; ++id) {
    const Certificate certificate = certificate_of(id);
    good = store->add_node(run.id, begun_node(id), source_of(id)).ok() && say(ends, 'a') &&
           store->finish_node(run.id, judged_node(id), &certificate).ok() && say(ends, 'f');
  }
  return false;
}

// What the killed process was told is kept, after what it had said.
void expect_all_there(const Store& store, const std::string& run, NodeId added, NodeId finished) {
  const Result<std::vector<Node>> nodes = store.load_nodes(run);
  ASSERT_TRUE(nodes.ok()) << nodes.error().text();
  ASSERT_GE(static_cast<NodeId>(nodes->size()), added);
  ASSERT_LE(static_cast<NodeId>(nodes->size()), added + 1) << "only one could be under way";
  for (NodeId id = 0; id < added; ++id) {
    const Node& node = (*nodes)[static_cast<std::size_t>(id)];
    EXPECT_EQ(*store.load_source(node.source_hash), source_of(id));
    if (id < finished) {
      expect_same(node, judged_node(id));
      const Result<std::optional<Certificate>> certificate = store.load_certificate(run, id);
      ASSERT_TRUE(certificate.ok()) << certificate.error().text();
      ASSERT_TRUE(certificate->has_value());
      EXPECT_EQ(to_json(**certificate), to_json(certificate_of(id)));
    }
  }
}

TEST_F(StoreTest, KilledAtAnyPointLosesNothingThatWasAnswered) {
  constexpr int kills = 30;
  Random random(20240229);
  for (int i = 0; i < kills; ++i) {
    Ends ends = make_ends();
    const pid_t writer = in_process([&] { return write_until_killed(folder(), ends); });
    ends.write.reset();
    std::string said;
    const std::uint64_t letters = random.below(12);
    while (said.size() < letters) {
      const char letter = hear(ends);
      ASSERT_NE(letter, '\0') << "the writer gave up by itself";
      said += letter;
    }
    // A moment within the next call: which one does not matter.
    const timespec moment{0, static_cast<long>(random.below(4'000'000))};
    ::nanosleep(&moment, nullptr);
    ::kill(writer, SIGKILL);
    exit_code_of(writer);
    for (char letter = hear(ends); letter != '\0'; letter = hear(ends)) {
      said += letter;
    }
    const auto count = [&](char letter) {
      return static_cast<NodeId>(std::count(said.begin(), said.end(), letter));
    };
    Store store = open();
    const Result<std::vector<RunSummary>> runs = store.list_runs();
    ASSERT_TRUE(runs.ok()) << runs.error().text();
    if (count('r') == 1) {
      expect_all_there(store, runs->back().id, count('a'), count('f'));
      EXPECT_TRUE(store.lock_run(runs->back().id).ok());
    }
  }
}

}  // namespace
}  // namespace kernelpro
