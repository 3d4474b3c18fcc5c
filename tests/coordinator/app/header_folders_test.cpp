// Libraries of headers as users name them: good folders and bad ones.
#include "coordinator/app/header_folders.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "common/base/file.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class HeaderFolders : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> scratch = ScratchDir::create("headers-test");
    ASSERT_TRUE(scratch.ok()) << scratch.error().text();
    scratch_.emplace(std::move(*scratch));
    write("lib/a.hpp", "#include \"sub/b.h\"\n");
    write("lib/sub/b.h", "int b();\n");
  }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = scratch_->path() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  [[nodiscard]] fs::path at(const std::string& path) const { return scratch_->path() / path; }
  [[nodiscard]] HeaderFolder lib() const { return {"lib", at("lib").string(), {}, {}}; }

  [[nodiscard]] static HeaderLibrary good(const HeaderFolder& named) {
    Result<HeaderLibrary> read = read_header_folder(named);
    EXPECT_TRUE(read.ok()) << read.error().text();
    return read.ok() ? std::move(*read) : HeaderLibrary();
  }

  void git(const std::vector<std::string>& words) const {
    Command command;
    command.arguments = {"git", "-C", scratch_->path(), "-c", "user.name=a", "-c", "user.email=b"};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.inherit_environment = true;
    const Result<Finished> done = run_command(command);
    ASSERT_TRUE(done.ok() && done->succeeded()) << done->errors;
  }

 private:
  std::optional<ScratchDir> scratch_;
};

TEST_F(HeaderFolders, EveryTextFileBelowTheFolderTravels) {
  write("lib/.git/config", "secret");
  write("lib/no_extension", "int c();\n");
  fs::create_symlink("sub/b.h", at("lib/link.h"));
  fs::create_directory_symlink("sub", at("lib/also"));
  const HeaderLibrary library = good(lib());
  EXPECT_THAT(library.files,
              ElementsAre(Key("a.hpp"), Pair("also/b.h", "int b();\n"),
                          Pair("link.h", "int b();\n"), Key("no_extension"), Key("sub/b.h")));
  EXPECT_THAT(library.left_out, IsEmpty());
  EXPECT_EQ(library.commit, "");
}

TEST_F(HeaderFolders, WhatNoCandidateMayIncludeIsLeftOutWithTheReason) {
  write("secret", "marker\n");
  write("lib/picture.h", std::string("\x89PNG\0", 5));
  write("lib/latin.h", "// \xe9\n");
  write("lib/huge.h", "");
  fs::resize_file(at("lib/huge.h"), 100U << 20);
  fs::create_symlink("circle_b.h", at("lib/circle_a.h"));
  fs::create_symlink("circle_a.h", at("lib/circle_b.h"));
  fs::create_directory_symlink("..", at("lib/sub/up"));
  fs::create_symlink(at("secret"), at("lib/secret.h"));
  fs::create_directory_symlink(at(""), at("lib/out"));
  fs::create_symlink("nowhere.h", at("lib/dangling.h"));
  const HeaderLibrary library = good(lib());
  EXPECT_THAT(library.files, ElementsAre(Key("a.hpp"), Key("sub/b.h")));
  EXPECT_THAT(
      library.left_out,
      UnorderedElementsAre(
          Pair("picture.h", "it is no text in UTF-8"), Pair("latin.h", "it is no text in UTF-8"),
          Pair("huge.h", "it has 104857600 bytes, and a header may have 4194304"),
          Pair("circle_a.h", HasSubstr("in a circle")),
          Pair("circle_b.h", HasSubstr("in a circle")), Pair("sub/up", HasSubstr("in a circle")),
          Pair("dangling.h", HasSubstr("to nothing")),
          Pair("secret.h", HasSubstr("leads out of the library's folder")),
          Pair("out", HasSubstr("leads out of the library's folder"))));
}

TEST_F(HeaderFolders, BadFoldersAreRefusedWithWhatToNameInstead) {
  const auto refused = [](const HeaderFolder& named) {
    const Result<HeaderLibrary> read = read_header_folder(named);
    EXPECT_FALSE(read.ok());
    return read.ok() ? "" : read.error().text();
  };
  EXPECT_THAT(refused({"lib", at("nowhere").string(), {}, {}}),
              AllOf(HasSubstr("there is no such folder"), HasSubstr("--include lib=")));
  EXPECT_THAT(refused({"lib", at("lib/a.hpp").string(), {}, {}}), HasSubstr("no such folder"));
  fs::create_directories(at("empty"));
  EXPECT_THAT(refused({"lib", at("empty").string(), {}, {}}), HasSubstr("no header"));
  EXPECT_THAT(refused({"a/b", at("lib").string(), {}, {}}), HasSubstr("letters, digits and _"));
  const std::string large(4U << 20, 'x');
  for (int i = 0; i < 13; ++i) {
    write("lib/large" + std::to_string(i) + ".h", large);
  }
  EXPECT_THAT(refused(lib()), HasSubstr("48 MiB together"));
}

TEST_F(HeaderFolders, TheCommitIsThatOfTheCheckoutThatHasTheFolder) {
  git({"init", "-q"});
  git({"commit", "-q", "--allow-empty", "-m", "none"});
  EXPECT_EQ(good(lib()).commit, "") << "nothing of the folder is in it";
  git({"add", "."});
  git({"commit", "-q", "-m", "all"});
  EXPECT_EQ(good(lib()).commit.size(), 40U);
}

TEST_F(HeaderFolders, ARunKeepsTheHashAndSaysWhenTheLibraryHasChanged) {
  Task task;
  task.includes = {{"lib", "/nowhere"}, {"more", at("lib/sub").string()}};
  JudgingSettings judging;
  judging.includes = {lib()};
  const Result<std::vector<HeaderFolder>> kept = pinned(header_folders(judging, task));
  ASSERT_TRUE(kept.ok()) << kept.error().text();
  ASSERT_EQ(kept->size(), 2U) << "the command line wins over the task";
  OpenOrder order;
  order.judging.includes = *kept;
  const Result<OpenOrder> same = with_headers(order);
  ASSERT_TRUE(same.ok()) << same.error().text();
  EXPECT_EQ(same->headers.size(), 2U);
  write("lib/a.hpp", "// another\n");
  const Result<OpenOrder> other = with_headers(order);
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().text(), HasSubstr("has changed since the run began"));
}

TEST(IncludedLibraries, DifferencesAreNamedFileByFile) {
  const HeaderLibrary before{"lib", "", {{"a.h", "1"}, {"b.h", "1"}, {"c.h", "1"}}, {}};
  HeaderLibrary now = before;
  EXPECT_EQ(difference_of({whole_of(before)}, {whole_of(now)}), "");
  now.files.erase("a.h");
  now.files["b.h"] = "2";
  now.files["d.h"] = "1";
  EXPECT_EQ(difference_of({whole_of(before)}, {whole_of(now)}),
            "lib/a.h is no longer included; lib/b.h has changed; lib/d.h is included now");
}

}  // namespace
}  // namespace kernelpro
