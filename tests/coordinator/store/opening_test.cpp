// Places where a store cannot be, or not quite.
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>

#include "common/base/file.hpp"
#include "common/base/unique_fd.hpp"
#include "coordinator/store/database.hpp"
#include "coordinator/store/fixture.hpp"
#include "coordinator/store/place.hpp"
#include "coordinator/store/schema.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::begun_node;
using testing::error_text;
using testing::exit_code_of;
using ::testing::HasSubstr;
using testing::in_process;
using ::testing::IsEmpty;
using testing::new_run;
using ::testing::SizeIs;
using testing::source_of;

constexpr const char* choose_another = "choose another folder with --store or KERNELPRO_STORE";

class OpeningTest : public testing::StoreTest {
 protected:
  void TearDown() override {
    std::error_code ignored;
    fs::permissions(folder(), fs::perms::owner_all, fs::perm_options::add, ignored);
  }

  // With one run of one node, closed.
  void make_store() const {
    Store store = open();
    auto run = new_run();
    ASSERT_TRUE(store.create_run(run).ok());
    ASSERT_TRUE(store.add_node(run.id, begun_node(0), source_of(0)).ok());
  }

  void sql(const std::string& text) const {
    fs::create_directories(folder());
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  // The first page of the index of names of runs.
  [[nodiscard]] int index_page() const {
    sqlite3* handle = nullptr;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_open(file().c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_prepare_v2(handle,
                                 "SELECT rootpage FROM sqlite_master "
                                 "WHERE name = 'sqlite_autoindex_runs_1'",
                                 -1, &statement, nullptr),
              SQLITE_OK);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const int page = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return page;
  }

  // Whether `body` holds for somebody who may read everything in the folder and write nothing.
  // Rights do not bind root, so it is somebody else then.
  [[nodiscard]] bool holds_for_a_reader(const std::function<bool()>& body) const {
    fs::permissions(scratch_->path(),
                    fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
    for (const auto& entry : fs::recursive_directory_iterator(folder())) {
      fs::permissions(entry.path(), entry.is_directory() ? fs::perms(0755) : fs::perms(0444));
    }
    fs::permissions(folder(), fs::perms(0555));
    return exit_code_of(in_process([&] {
             const bool ready = ::geteuid() != 0 || (::setgid(65534) == 0 && ::setuid(65534) == 0);
             return ready && body();
           })) == 0;
  }
};

TEST_F(OpeningTest, WriteModeMakesTheFolderAndTheFile) {
  const Store store = open();
  EXPECT_TRUE(fs::exists(file()));
  EXPECT_EQ(store.directory(), folder());
  EXPECT_THAT(store.notices(), IsEmpty());
  EXPECT_THAT(*store.list_runs(), IsEmpty());
}

TEST_F(OpeningTest, ReadModeSaysHowToMakeAStore) {
  const Error error = error_of_open(StoreMode::read);
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_EQ(error.context, folder().string());
  EXPECT_THAT(error.message, AllOf(HasSubstr("there is no store here"),
                                   HasSubstr("`kernelpro optimize` makes one")));
  EXPECT_FALSE(fs::exists(folder())) << "reading made it";
}

TEST_F(OpeningTest, EmptyFileIsAStoreToBe) {
  fs::create_directories(folder());
  ASSERT_TRUE(write_file_unsynced(file(), "").ok());
  EXPECT_THAT(error_of_open(StoreMode::read).text(), HasSubstr("nothing has been kept"));
  EXPECT_THAT(*open().list_runs(), IsEmpty());
}

TEST_F(OpeningTest, FolderThatIsAFileIsRefused) {
  ASSERT_TRUE(write_file_unsynced(folder(), "a file").ok());
  for (const StoreMode mode : {StoreMode::write, StoreMode::read}) {
    const Error error = error_of_open(mode);
    EXPECT_EQ(error.kind, ErrorKind::bad_input);
    EXPECT_THAT(error.text(), AllOf(HasSubstr(folder().string() + ": a file, expected the folder"),
                                    HasSubstr(choose_another)));
  }
}

TEST_F(OpeningTest, FileThatIsNoDatabaseIsRefusedAndLeftAlone) {
  fs::create_directories(folder());
  const std::string text(5000, 'x');
  ASSERT_TRUE(write_file_unsynced(file(), text).ok());
  for (const StoreMode mode : {StoreMode::write, StoreMode::read}) {
    const Error error = error_of_open(mode);
    EXPECT_EQ(error.kind, ErrorKind::bad_input);
    EXPECT_THAT(error.text(),
                AllOf(HasSubstr(file().string() + ": not a store: it is no SQLite database"),
                      HasSubstr(choose_another)));
  }
  EXPECT_EQ(*read_file(file()), text);
}

TEST_F(OpeningTest, DatabaseOfAnotherProgramIsRefusedAndLeftAlone) {
  sql("CREATE TABLE theirs (x); PRAGMA user_version = 1;");
  const std::string before = *read_file(file());
  const Error error = error_of_open();
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_THAT(error.text(), HasSubstr("not a store: it is a database of another program"));
  EXPECT_EQ(*read_file(file()), before);
}

TEST_F(OpeningTest, NewerVersionNamesBothVersions) {
  make_store();
  sql("PRAGMA user_version = 2");
  for (const StoreMode mode : {StoreMode::write, StoreMode::read}) {
    const Error error = error_of_open(mode);
    EXPECT_EQ(error.kind, ErrorKind::environment);
    EXPECT_THAT(error.text(),
                AllOf(HasSubstr("made by a newer kernelpro: it has version 2 of the store"),
                      HasSubstr("knows version 1"), HasSubstr("Use the newer kernelpro")));
  }
}

// As a program wrote it that did not know these columns.
TEST_F(OpeningTest, AnOlderFileIsReadAndGetsItsNewColumnsWhenItIsWrittenTo) {
  {
    Store store = open();
    auto run = new_run();
    const Result<RunLock> lock = store.create_run(run);
    ASSERT_TRUE(lock.ok());
    for (const NodeId id : {0, 1, 2}) {
      ASSERT_TRUE(store.add_node(run.id, begun_node(id), source_of(id)).ok());
      ASSERT_TRUE(store.finish_node(run.id, testing::judged_node(id), nullptr).ok());
    }
    run.state = RunState::finished;
    run.best = 2;
    ASSERT_TRUE(store.save_run(run).ok());
  }
  sql("ALTER TABLE nodes DROP COLUMN at_least; ALTER TABLE nodes DROP COLUMN final_phase;"
      "ALTER TABLE nodes DROP COLUMN confirmed; ALTER TABLE runs DROP COLUMN final_phases;"
      "ALTER TABLE nodes DROP COLUMN likely;");
  for (const StoreMode mode : {StoreMode::read, StoreMode::write, StoreMode::read}) {
    const Result<Store> store = Store::open(folder(), mode);
    ASSERT_TRUE(store) << store.error().text();
    const Result<std::vector<Node>> nodes = store->load_nodes("nearest-1");
    ASSERT_TRUE(nodes) << nodes.error().text();
    ASSERT_THAT(*nodes, SizeIs(3));
    EXPECT_FALSE((*nodes)[0].confirmed);
    EXPECT_FALSE((*nodes)[1].confirmed);
    EXPECT_TRUE((*nodes)[2].confirmed) << "what a finished run called its best had been confirmed";
    EXPECT_FALSE((*nodes)[2].at_least);
    EXPECT_EQ((*nodes)[2].likely, 0);
    EXPECT_EQ((*nodes)[2].final_phase, 0);
    EXPECT_EQ((*nodes)[2].judge_ns, testing::judged_node(2).judge_ns);
    EXPECT_EQ(store->load_run("nearest-1")->final_phases, 0);
    ASSERT_THAT(*store->list_runs(), SizeIs(1));
    EXPECT_FALSE(store->list_runs()->front().best_at_least);
  }
  Store store = open();
  ASSERT_TRUE(store.finish_node("nearest-1", testing::judged_node(1), nullptr).ok());
  EXPECT_TRUE(store.load_node("nearest-1", 1)->at_least);
}

TEST_F(OpeningTest, AFileThatLacksTheNewestColumnAloneKeepsTheOthers) {
  {
    Store store = open();
    auto run = new_run();
    const Result<RunLock> lock = store.create_run(run);
    ASSERT_TRUE(lock.ok());
    ASSERT_TRUE(store.add_node(run.id, begun_node(0), source_of(0)).ok());
    ASSERT_TRUE(store.finish_node(run.id, testing::judged_node(0), nullptr).ok());
  }
  sql("ALTER TABLE nodes DROP COLUMN likely;");
  for (const StoreMode mode : {StoreMode::read, StoreMode::write, StoreMode::read}) {
    const Result<Store> store = Store::open(folder(), mode);
    ASSERT_TRUE(store) << store.error().text();
    const Result<std::vector<Node>> nodes = store->load_nodes("nearest-1");
    ASSERT_TRUE(nodes) << nodes.error().text();
    ASSERT_THAT(*nodes, SizeIs(1));
    EXPECT_EQ(nodes->front().likely, 0);
    EXPECT_TRUE(nodes->front().at_least);
    EXPECT_EQ(nodes->front().final_phase, 2);
  }
}

TEST_F(OpeningTest, DamagedFileSaysHowToSaveTheRest) {
  make_store();
  const auto size = fs::file_size(file());
  const UniqueFd fd(::open(file().c_str(), O_WRONLY | O_CLOEXEC));
  const std::string noise(16 * 1024, '\x5a');
  ASSERT_GT(size, noise.size() + 100);
  // The first page names the tables, so it opens; what follows is gone.
  for (auto at = 16384L; at < static_cast<long>(size); at += static_cast<long>(noise.size())) {
    ASSERT_GT(::pwrite(fd.get(), noise.data(), noise.size(), at), 0);
  }
  const Result<Store> store = Store::open(folder(), StoreMode::read);
  ASSERT_TRUE(store.ok()) << store.error().text();
  const Result<std::vector<Node>> nodes = store->load_nodes("nearest-1");
  ASSERT_FALSE(nodes.ok());
  EXPECT_EQ(nodes.error().kind, ErrorKind::io);
  EXPECT_THAT(nodes.error().text(),
              AllOf(HasSubstr(file().string() + ": damaged ("), HasSubstr("put a copy of it back"),
                    HasSubstr(".recover")));
}

// One flipped bit in the index of names: the run is there, and not found by its name.
TEST_F(OpeningTest, DamagedIndexSaysHowToMakeItAnew) {
  make_store();
  constexpr long page = 16384;
  std::string content = *read_file(file());
  const std::size_t at =
      content.find("nearest-1", static_cast<std::size_t>(page * (index_page() - 1)));
  ASSERT_NE(at, std::string::npos);
  content[at] ^= 1;
  ASSERT_TRUE(write_file_unsynced(file(), content).ok());
  const Store store = open(StoreMode::read);
  EXPECT_THAT(*store.list_runs(), SizeIs(1));
  for (const std::string& said :
       {error_text(store.load_run("nearest-1")), error_text(store.load_nodes("nearest-1"))}) {
    EXPECT_THAT(said, AllOf(HasSubstr(file().string() + ": damaged (an index has lost the run "
                                                        "nearest-1)"),
                            HasSubstr("sqlite3 " + file().string() + " REINDEX")));
  }
  EXPECT_THAT(error_text(store.load_run("gone-1")),
              HasSubstr("there is no run 'gone-1'; the latest are nearest-1"));
  sql("REINDEX");
  EXPECT_TRUE(open(StoreMode::read).load_run("nearest-1").ok());
}

TEST_F(OpeningTest, ReadOnlyFolderCanBeRead) {
  make_store();
  EXPECT_TRUE(holds_for_a_reader([&] {
    const Result<Store> store = Store::open(folder(), StoreMode::read);
    EXPECT_TRUE(store.ok()) << error_text(store);
    EXPECT_THAT(store->notices(), SizeIs(1));
    EXPECT_THAT(store->notices().front(), HasSubstr("the folder cannot be written to"));
    EXPECT_EQ(store->load_nodes("nearest-1")->size(), 1U);
    EXPECT_EQ(*store->load_source(begun_node(0).source_hash), source_of(0));
    return !HasFailure();
  }));
}

TEST_F(OpeningTest, ReadOnlyFolderSaysWhyItCannotBeWrittenTo) {
  make_store();
  EXPECT_TRUE(holds_for_a_reader([&] {
    const Error error = error_of_open(StoreMode::write);
    EXPECT_EQ(error.kind, ErrorKind::io);
    EXPECT_THAT(error.text(),
                AllOf(HasSubstr(file().string() + ": cannot be written to (Permission denied)"),
                      HasSubstr(choose_another)));
    return !HasFailure();
  }));
}

TEST_F(OpeningTest, PlaceWhereNoFolderCanBeMadeSaysSo) {
  fs::create_directories(folder());
  EXPECT_TRUE(holds_for_a_reader([&] {
    const Result<Store> store = Store::open(folder() / "inner", StoreMode::write);
    EXPECT_THAT(error_text(store),
                AllOf(HasSubstr("Permission denied"), HasSubstr((folder() / "inner").string()),
                      HasSubstr(choose_another)));
    return !HasFailure();
  }));
}

// The log of a killed process holds what the file does not.
TEST_F(OpeningTest, ReadOnlyFolderWithAnUnreadLogIsNotReadWrongly) {
  int fds[2] = {-1, -1};
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd from(fds[0]);
  const UniqueFd to(fds[1]);
  const pid_t writer = in_process([&] {
    Store store = open();
    auto run = new_run();
    const Result<RunLock> lock = store.create_run(run);
    return lock.ok() && ::write(to.get(), "y", 1) == 1 && ::pause() == 0;
  });
  char letter = 0;
  ASSERT_EQ(::read(from.get(), &letter, 1), 1);
  ::kill(writer, SIGKILL);
  exit_code_of(writer);
  ASSERT_GT(fs::file_size(file().string() + "-wal"), 0U);
  fs::remove(file().string() + "-shm");
  EXPECT_TRUE(holds_for_a_reader([&] {
    EXPECT_THAT(error_of_open(StoreMode::read).text(),
                AllOf(HasSubstr("its last changes are in " + file().string() + "-wal"),
                      HasSubstr("copy the whole folder")));
    return !HasFailure();
  }));
  fs::permissions(folder(), fs::perms::owner_all);
  fs::permissions(file(), fs::perms(0644));
  fs::permissions(file().string() + "-wal", fs::perms(0644));
  EXPECT_THAT(*open(StoreMode::read).list_runs(), SizeIs(1));
}

TEST_F(OpeningTest, ReaderWhoMayNotWriteCannotAddAnything) {
  make_store();
  Store store = open(StoreMode::read);
  const Status added = store.add_node("nearest-1", begun_node(1), source_of(1));
  EXPECT_THAT(error_text(added), HasSubstr("cannot be written to"));
}

// Adds nodes until one fails, and returns that error.
Error fill(Store& store, const std::string& run, NodeId limit) {
  const std::string filler(20'000, 'x');
  for (NodeId id = 1; id < limit; ++id) {
    Node node = begun_node(id);
    node.plan = filler;
    if (const Status added = store.add_node(run, node, source_of(id)); !added) {
      return added.error();
    }
  }
  return make_error(ErrorKind::internal, "it never failed");
}

// A tiny file system that only this process and its children see.
bool mount_tiny(const fs::path& place) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tiny", place.c_str(), "tmpfs", 0, "size=1m") == 0;
}

TEST_F(OpeningTest, FullDiskSaysWhatToFreeAndLosesNothing) {
  constexpr int not_mounted = 7;
  fs::create_directories(folder());
  const pid_t child = ::fork();
  if (child == 0) {
    if (!mount_tiny(folder())) {
      ::_exit(not_mounted);
    }
    auto run = new_run();
    Store store = open();
    EXPECT_TRUE(store.create_run(run).ok());
    EXPECT_TRUE(store.add_node(run.id, begun_node(0), source_of(0)).ok());
    const Error error = fill(store, run.id, 1000);
    EXPECT_EQ(error.kind, ErrorKind::io);
    EXPECT_THAT(error.text(), AllOf(HasSubstr("the disk is full"), HasSubstr("free some space")));
    const Result<std::vector<Node>> nodes = store.load_nodes(run.id);
    EXPECT_TRUE(nodes.ok()) << error_text(nodes);
    EXPECT_GE(nodes->size(), 2U);
    ::_exit(HasFailure() ? 1 : 0);
  }
  const int code = exit_code_of(child);
  if (code == not_mounted) {
    GTEST_SKIP() << "mounting a small file system needs root";
  }
  EXPECT_EQ(code, 0);
}

TEST_F(OpeningTest, LimitOfFileSizesSaysSoAndLosesNothing) {
  make_store();
  EXPECT_EQ(exit_code_of(in_process([&] {
              Store store = open();
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{400'000, 400'000};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              const Error error = fill(store, "nearest-1", 1000);
              EXPECT_EQ(error.kind, ErrorKind::io);
              EXPECT_THAT(error.text(), HasSubstr("ulimit -f"));
              EXPECT_GE(store.load_nodes("nearest-1")->size(), 2U);
              return !HasFailure();
            })),
            0);
}

TEST(NetworkFileSystem, IsKnownByItsNumber) {
  EXPECT_EQ(store::network_file_system(0x6969), "nfs");
  EXPECT_EQ(store::network_file_system(0xFF534D42), "cifs");
  EXPECT_EQ(store::network_file_system(0x01021997), "9p");
  EXPECT_EQ(store::network_file_system(0x65735546), "fuse");
  EXPECT_EQ(store::network_file_system(0x0BD00BD0), "lustre");
  EXPECT_FALSE(store::network_file_system(0xEF53).has_value()) << "ext4";
  EXPECT_FALSE(store::network_file_system(0x01021994).has_value()) << "tmpfs";
  EXPECT_FALSE(store::network_file_system_of("/nowhere/at/all").has_value());
}

// What a network file system gets: no log beside the file, and a file that had one is changed.
// Whole pages go into the log, however little of them changes.
TEST_F(OpeningTest, TheLogStaysSmallWhileARunGoesOn) {
  Store store = open();
  auto run = new_run();
  const Result<RunLock> lock = store.create_run(run);
  ASSERT_TRUE(lock.ok()) << error_text(lock);
  for (NodeId id = 0; id < 200; ++id) {
    ASSERT_TRUE(store.add_node(run.id, begun_node(id), source_of(id)).ok());
  }
  EXPECT_LE(fs::file_size(file().string() + "-wal"), 512U * 1024);
}

TEST_F(OpeningTest, RollbackJournalNeedsNoLog) {
  make_store();
  std::vector<std::string> notices;
  Result<store::Database> database =
      store::open_database(folder(), StoreMode::write, store::Journal::rollback, notices);
  ASSERT_TRUE(database.ok()) << database.error().text();
  EXPECT_THAT(notices, IsEmpty());
  ASSERT_TRUE(database->execute("UPDATE runs SET machine = 'another'").ok());
  EXPECT_FALSE(fs::exists(file().string() + "-wal"));
  EXPECT_EQ(*database->select_integer("SELECT count(*) FROM nodes"), 1);
}

}  // namespace
}  // namespace kernelpro
