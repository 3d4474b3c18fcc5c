#include "common/base/file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> made = ScratchDir::create("file-test");
    ASSERT_TRUE(made.ok()) << made.error().text();
    scratch_.emplace(std::move(*made));
  }
  [[nodiscard]] fs::path at(const std::string& name) const { return scratch_->path() / name; }
  [[nodiscard]] static std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  std::optional<ScratchDir> scratch_;
};

TEST_F(FileTest, ReadsBackWhatWasWrittenByteByByte) {
  const std::string content("a\0b\r\n\xff", 6);
  ASSERT_TRUE(write_file_atomic(at("x"), content).ok());
  const Result<std::string> read = read_file(at("x"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, content);
}

TEST_F(FileTest, ReadsFilesLargerThanOneChunk) {
  const std::string content(300'000, 'z');
  ASSERT_TRUE(write_file_atomic(at("x"), content).ok());
  EXPECT_EQ(*read_file(at("x")), content);
}

TEST_F(FileTest, ErrorsNameTheFileAndTheReason) {
  const Result<std::string> missing = read_file(at("missing"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::io);
  EXPECT_EQ(missing.error().message,
            "No such file or directory (while reading " + at("missing").string() + ")");

  const Result<std::string> folder = read_file(scratch_->path());
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message, HasSubstr("Is a directory"));

  const Status unwritable = write_file_atomic(at("no/such/folder"), "x");
  ASSERT_FALSE(unwritable.ok());
  EXPECT_THAT(unwritable.error().message, HasSubstr(at("no/such/folder").string()));
}

TEST_F(FileTest, WhatHasNoEndIsNoFile) {
  const Result<std::string> read = read_file("/dev/zero");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().text(), "/dev/zero: this is no file, and it goes on and on");
  EXPECT_EQ(*read_file("/dev/null"), "");
}

constexpr std::array writers = {&write_file_atomic, &write_file_unsynced};

TEST_F(FileTest, ReplacesTheOldContentAndLeavesNoOtherFile) {
  for (const auto write : writers) {
    ASSERT_TRUE(write(at("x"), "a long old content").ok());
    ASSERT_TRUE(write(at("x"), "new").ok());
    EXPECT_EQ(*read_file(at("x")), "new");
    EXPECT_EQ(entries(scratch_->path()), 1U);
  }
}

TEST_F(FileTest, WritesFilesWithTheLongestPossibleName) {
  const std::string name(255, 'n');
  EXPECT_TRUE(write_file_atomic(at(name), "x").ok());
}

// A file system of 64 KiB that only the calling thread sees.
bool mount_small_disk(const fs::path& folder) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", folder.c_str(), "tmpfs", 0, "size=64k") == 0;
}

TEST_F(FileTest, FullDiskIsSaidAndKeepsTheOldFile) {
  bool mounted = false;
  Status written;
  std::string kept;
  std::size_t left = 0;
  std::thread([&] {
    mounted = mount_small_disk(scratch_->path());
    if (mounted && write_file_atomic(at("x"), "old").ok()) {
      written = write_file_atomic(at("x"), std::string(200'000, 'n'));
      kept = *read_file(at("x"));
      left = entries(scratch_->path());
    }
  }).join();
  if (!mounted) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::io);
  EXPECT_THAT(written.error().message, HasSubstr("No space left on device (while writing " +
                                                 at("x").string() + "): the disk is full"));
  EXPECT_EQ(kept, "old");
  EXPECT_EQ(left, 1U);
}

TEST_F(FileTest, WriteThatIsCutShortKeepsTheOldFile) {
  for (const auto write : writers) {
    ASSERT_TRUE(write(at("x"), "old").ok());
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{4096, before.rlim_max};
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const Status written = write(at("x"), std::string(100'000, 'n'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);

    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().kind, ErrorKind::io);
    EXPECT_EQ(*read_file(at("x")), "old");
    EXPECT_EQ(entries(scratch_->path()), 1U);
  }
}

TEST_F(FileTest, MakesNestedFoldersAndAcceptsExistingOnes) {
  EXPECT_TRUE(make_directories(at("a/b/c")).ok());
  EXPECT_TRUE(make_directories(at("a/b/c")).ok());
  EXPECT_TRUE(fs::is_directory(at("a/b/c")));

  ASSERT_TRUE(write_file_atomic(at("plain"), "").ok());
  const Status blocked = make_directories(at("plain/below"));
  ASSERT_FALSE(blocked.ok());
  EXPECT_THAT(blocked.error().message,
              HasSubstr("making the folder " + at("plain/below").string()));
}

TEST(ScratchDirTest, IsPrivateAndGoesWithItsOwner) {
  fs::path path;
  {
    Result<ScratchDir> scratch = ScratchDir::create("life");
    ASSERT_TRUE(scratch.ok());
    path = scratch->path();
    EXPECT_THAT(path.filename().string(), HasSubstr("kernelpro-life-"));
    struct stat info{};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0711U);
    ASSERT_TRUE(make_directories(path / "deep/er").ok());
    ASSERT_TRUE(write_file_atomic(path / "deep/er/file", "x").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

// Makes a scratch folder and is killed once it is there; returns the folder.
fs::path folder_of_a_killed_process() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd from(fds[0]);
  UniqueFd to(fds[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<ScratchDir> scratch = ScratchDir::create("killed");
    if (scratch.ok() && make_directories(scratch->path() / "deep").ok()) {
      const std::string path = scratch->path().string();
      (void)!::write(to.get(), path.data(), path.size());
      ::pause();
    }
    ::_exit(1);
  }
  to.reset();
  char path[4096];
  const ssize_t length = ::read(from.get(), path, sizeof path);
  EXPECT_GT(length, 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return std::string(path, length > 0 ? static_cast<std::size_t>(length) : 0);
}

TEST(ScratchDirTest, WhatAKilledOwnerLeftIsRemovedAndWhatALiveOneHasStays) {
  const Result<ScratchDir> parent = ScratchDir::create("parent");
  ASSERT_TRUE(parent.ok());
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("TMPDIR", parent->path().c_str(), 1);
  const fs::path abandoned = folder_of_a_killed_process();
  EXPECT_TRUE(fs::exists(abandoned / "deep"));
  Result<ScratchDir> living = ScratchDir::create("living");
  ASSERT_TRUE(living.ok());
  const ScratchDir moved = std::move(*living);
  for (const char* name : {"kernelpro-other-abcdef", "kernelpro-7-abcdef", "elsewhere-7-abcdef"}) {
    fs::create_directory(parent->path() / name);
  }
  remove_abandoned_scratch();
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(moved.path()));
  for (const char* name : {"kernelpro-other-abcdef", "kernelpro-7-abcdef", "elsewhere-7-abcdef"}) {
    EXPECT_TRUE(fs::exists(parent->path() / name)) << name << " is no scratch folder";
  }
  if (before != nullptr) {
    ::setenv("TMPDIR", kept.c_str(), 1);
  } else {
    ::unsetenv("TMPDIR");
  }
}

TEST(ScratchDirTest, MovingHandsOverTheFolder) {
  Result<ScratchDir> first = ScratchDir::create("first");
  Result<ScratchDir> second = ScratchDir::create("second");
  ASSERT_TRUE(first.ok() && second.ok());
  const fs::path replaced = first->path();
  const fs::path kept = second->path();
  *first = std::move(*second);
  EXPECT_FALSE(fs::exists(replaced));
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_EQ(first->path(), kept);
}

TEST(ScratchDirTest, RemovesFoldersWhoseRightsWereTakenAway) {
  fs::path path;
  {
    Result<ScratchDir> scratch = ScratchDir::create("locked");
    ASSERT_TRUE(scratch.ok());
    path = scratch->path();
    ASSERT_TRUE(make_directories(path / "a/b").ok());
    ASSERT_TRUE(write_file_atomic(path / "a/b/file", "x").ok());
    fs::permissions(path / "a/b", fs::perms::none);
    fs::permissions(path / "a", fs::perms::none);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchDirTest, RootRemovesWhatAnotherUserMade) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "making files of another user needs root";
  }
  fs::path path;
  {
    Result<ScratchDir> scratch = ScratchDir::create("foreign");
    ASSERT_TRUE(scratch.ok());
    path = scratch->path();
    ASSERT_TRUE(make_directories(path / "theirs").ok());
    ASSERT_TRUE(write_file_atomic(path / "theirs/file", "x").ok());
    ASSERT_EQ(::chown((path / "theirs/file").c_str(), 65534, 65534), 0);
    ASSERT_EQ(::chown((path / "theirs").c_str(), 65534, 65534), 0);
    fs::permissions(path / "theirs", fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchDirTest, DoesNotFollowLinksWhenItRemoves) {
  Result<ScratchDir> outside = ScratchDir::create("outside");
  ASSERT_TRUE(outside.ok());
  ASSERT_TRUE(write_file_atomic(outside->path() / "keep", "x").ok());
  {
    Result<ScratchDir> scratch = ScratchDir::create("links");
    ASSERT_TRUE(scratch.ok());
    fs::create_directory_symlink(outside->path(), scratch->path() / "link");
  }
  EXPECT_TRUE(fs::exists(outside->path() / "keep"));
}

}  // namespace
}  // namespace kernelpro
