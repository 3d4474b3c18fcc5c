#include <gmock/gmock.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "common/base/file.hpp"
#include "coordinator/report/export.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WriteExport : public ::testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("export_write_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
  }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }

  void lay(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(write_file_unsynced(folder() / name, content).ok());
  }

  [[nodiscard]] std::string content(const std::string& name) const {
    const auto text = read_file(folder() / name);
    return text.ok() ? *text : text.error().text();
  }

  // Everything below the folder, by relative path.
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> out;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder())) {
      out.insert(entry.path().lexically_relative(folder()).string());
    }
    return out;
  }

  [[nodiscard]] std::string write(const fs::path& to, const std::vector<ExportFile>& files,
                                  bool overwrite = false) const {
    const Status written = write_export(folder() / to, files, overwrite);
    return written.ok() ? "written" : written.error().text();
  }

  std::optional<ScratchDir> scratch_;
};

TEST_F(WriteExport, MakesFoldersAndMarksPrograms) {
  EXPECT_EQ(write("deep/er", {{"a.txt", "1", false}, {"sub/run.sh", "2", true}}), "written");
  EXPECT_THAT(names(),
              ElementsAre("deep", "deep/er", "deep/er/a.txt", "deep/er/sub", "deep/er/sub/run.sh"));
  EXPECT_EQ(content("deep/er/a.txt"), "1");
  const fs::perms run = fs::status(folder() / "deep/er/sub/run.sh").permissions();
  EXPECT_NE(run & fs::perms::owner_exec, fs::perms::none);
  const fs::perms text = fs::status(folder() / "deep/er/a.txt").permissions();
  EXPECT_EQ(text & fs::perms::owner_exec, fs::perms::none);
}

TEST_F(WriteExport, NamesTheFilesItWouldOverwriteAndTouchesNone) {
  lay("a.txt", "old");
  lay("c.txt", "old");
  EXPECT_THAT(
      write("", {{"a.txt", "new", false}, {"b.txt", "new", false}, {"c.txt", "new", false}}),
      HasSubstr("these files are there already: a.txt, c.txt; export to another folder, or "
                "replace them with --overwrite"));
  EXPECT_THAT(names(), ElementsAre("a.txt", "c.txt"));
  EXPECT_EQ(content("a.txt"), "old");
}

TEST_F(WriteExport, OverwritesWhenToldAndLeavesOtherFilesAlone) {
  lay("a.txt", "old");
  lay("mine.txt", "mine");
  EXPECT_EQ(write("", {{"a.txt", "new", false}}, true), "written");
  EXPECT_THAT(names(), ElementsAre("a.txt", "mine.txt"));
  EXPECT_EQ(content("a.txt"), "new");
  EXPECT_EQ(content("mine.txt"), "mine");
}

TEST_F(WriteExport, PutsEverythingBackWhenAFileCannotBeWritten) {
  lay("a.txt", "old");
  lay("blocked", "a file where a folder is wanted");
  EXPECT_THAT(
      write("", {{"a.txt", "new", false}, {"b/c.txt", "new", false}, {"blocked/x", "new", false}},
            true),
      HasSubstr("making the folder"));
  EXPECT_THAT(names(), ElementsAre("a.txt", "blocked"));
  EXPECT_EQ(content("a.txt"), "old");
}

TEST_F(WriteExport, LeavesNoFolderBehindWhenItFails) {
  EXPECT_THAT(write("new/folder", {{"a", "1", false}, {"a/b", "2", false}}), HasSubstr("folder"));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(WriteExport, RefusesPathsThatLeadOutOfTheFolder) {
  for (const char* path : {"../x", "/tmp/x", "a/../../x", ""}) {
    EXPECT_THAT(write("in", {{path, "1", false}}),
                AllOf(HasSubstr("leads out of the exported folder"), HasSubstr(path)));
  }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(WriteExport, RefusesAFolderInTheWay) {
  ASSERT_TRUE(make_directories(folder() / "a.txt").ok());
  EXPECT_THAT(write("", {{"a.txt", "1", false}}, true), HasSubstr("a folder is in the way"));
}

}  // namespace
}  // namespace kernelpro
