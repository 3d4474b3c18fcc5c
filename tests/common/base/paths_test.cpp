#include "common/base/paths.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "common/base/set_variable.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(PathsTest, FindsItsOwnFolderAndTheProgramsBesideIt) {
  const std::string own = fs::read_symlink("/proc/self/exe").filename().string();
  const Result<fs::path> found = sibling_program(own);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, program_directory() / own);
}

TEST(PathsTest, MissingSiblingSaysWhatToDo) {
  const Result<fs::path> missing = sibling_program("kernelpro-nothing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::environment);
  EXPECT_THAT(missing.error().message, HasSubstr("the program kernelpro-nothing is not beside"));
  EXPECT_THAT(missing.error().message, HasSubstr("install KernelPro again"));
}

TEST(PathsTest, ShareFolderIsTheGivenOne) {
  const Result<ScratchDir> scratch = ScratchDir::create("share");
  ASSERT_TRUE(scratch.ok());
  const SetVariable share("KERNELPRO_SHARE", scratch->path().string());
  const Result<fs::path> found = share_directory();
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, scratch->path());
}

TEST(PathsTest, GivenShareFolderThatIsMissingIsAnErrorAndNotPassedOver) {
  const SetVariable share("KERNELPRO_SHARE", "/nowhere/share");
  const Result<fs::path> found = share_directory();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::environment);
  EXPECT_THAT(found.error().message, HasSubstr("KERNELPRO_SHARE names '/nowhere/share'"));
}

TEST(PathsTest, ProgramInABuildFolderUsesTheSourceTree) {
  const SetVariable share("KERNELPRO_SHARE", std::nullopt);
  const Result<fs::path> found = share_directory();
  const std::string own = program_directory().string();
  if (own.starts_with(fs::canonical(KERNELPRO_SOURCE_DIR).string() + "/")) {
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(*found, fs::path(KERNELPRO_SOURCE_DIR));
  } else {
    ASSERT_FALSE(found.ok());
    EXPECT_THAT(found.error().message, HasSubstr("set KERNELPRO_SHARE"));
  }
}

TEST(PathsTest, CacheIsTheGivenOneThenXdgThenHome) {
  const SetVariable home("HOME", "/home/someone");
  const SetVariable xdg("XDG_CACHE_HOME", "/xdg");
  const SetVariable given("KERNELPRO_CACHE", "/given");
  EXPECT_EQ(cache_directory(), "/given");
  const SetVariable not_given("KERNELPRO_CACHE", std::nullopt);
  EXPECT_EQ(cache_directory(), "/xdg/kernelpro");
  const SetVariable relative("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(cache_directory(), "/home/someone/.cache/kernelpro");
}

TEST(PathsTest, CacheWithoutHomeComesFromTheUserDatabase) {
  const SetVariable given("KERNELPRO_CACHE", std::nullopt);
  const SetVariable xdg("XDG_CACHE_HOME", std::nullopt);
  const SetVariable home("HOME", std::nullopt);
  EXPECT_TRUE(cache_directory().is_absolute());
  EXPECT_EQ(cache_directory().filename(), "kernelpro");
}

TEST(PathsTest, PathsAreSeenFromAFolderThatIsMovedWithThem) {
  EXPECT_EQ(portable_path("/home/me/project/src/a.cpp", "/home/me/project"), "src/a.cpp");
  EXPECT_EQ(portable_path("/home/me/project/src/../a.cpp", "/home/me/project"), "a.cpp");
  EXPECT_EQ(portable_path("/home/me/other/a.cpp", "/home/me/project"), "../other/a.cpp");
  EXPECT_EQ(portable_path("/home/me/project", "/home/me/project"), ".");
  EXPECT_EQ(portable_path("/mnt/a.cpp", "/home/me/project"), "/mnt/a.cpp") << "nothing is shared";
  EXPECT_EQ(portable_path("/a.cpp", "/"), "a.cpp");
}

TEST(PathsTest, WhatIsKeptIsFoundAgainFromAnotherFolderAndInstallation) {
  const SetVariable one("KERNELPRO_SHARE", "/usr");
  EXPECT_EQ(kept_path("/usr/tasks/axpy", "/home/me"), "share:tasks/axpy");
  EXPECT_EQ(kept_path("/usr/mine/f.cpp", "/usr/mine"), "f.cpp") << "moved with the folder";
  EXPECT_EQ(kept_path("/home/me/f.cpp", "/home/me"), "f.cpp");
  const SetVariable other("KERNELPRO_SHARE", "/opt");
  EXPECT_EQ(found_path("share:tasks/axpy", "/home/me"), "/opt/tasks/axpy");
  EXPECT_EQ(found_path("../f.cpp", "/new/place"), "/new/f.cpp");
  EXPECT_EQ(found_path("/mnt/f.cpp", "/new/place"), "/mnt/f.cpp");
}

}  // namespace
}  // namespace kernelpro
