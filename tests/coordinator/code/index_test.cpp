#include "coordinator/code/index.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "common/base/file.hpp"
#include "coordinator/code/index_file.hpp"
#include "coordinator/code/search.hpp"
#include "coordinator/code/symbols.hpp"

namespace kernelpro::code {
namespace {

namespace fs = std::filesystem;
using store::Database;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CodeIndex : public ::testing::Test {
 protected:
  CodeIndex() {
    EXPECT_TRUE(scratch_.ok());
    fs::create_directories(root());
  }

  [[nodiscard]] fs::path root() const { return scratch_->path() / "kernels"; }
  [[nodiscard]] fs::path store() const { return scratch_->path() / ".kernelpro"; }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root() / path).parent_path());
    ASSERT_TRUE(write_file_unsynced(root() / path, text).ok());
  }

  [[nodiscard]] Database open(StoreMode mode = StoreMode::write) const {
    Result<Database> index = open_index(store(), mode);
    EXPECT_TRUE(index.ok()) << index.error().text();
    return std::move(*index);
  }

  [[nodiscard]] Walk walk() const {
    Result<Walk> found = walk_folder(root());
    EXPECT_TRUE(found.ok()) << found.error().text();
    return std::move(*found);
  }

  FolderUpdate update(Walk walk, const std::optional<std::string>& ctags = {}) const {
    Database index = open();
    const Result<IndexedFolder> folder = need_folder(index, "kernels", root().string());
    EXPECT_TRUE(folder.ok());
    const Result<FolderUpdate> done =
        update_folder(index, *folder, root(), std::move(walk), ctags, {});
    EXPECT_TRUE(done.ok()) << done.error().text();
    return done.ok() ? *done : FolderUpdate();
  }
  FolderUpdate update() const { return update(walk()); }

  [[nodiscard]] std::vector<std::string> files_with(const std::string& question) const {
    Database index = open(StoreMode::read);
    const Result<std::vector<Hit>> hits = search_words(index, question, 10, {});
    EXPECT_TRUE(hits.ok()) << hits.error().text();
    std::vector<std::string> files;
    for (const Hit& hit : hits.ok() ? *hits : std::vector<Hit>()) {
      files.push_back(hit.file);
    }
    return files;
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("code-index");
};

TEST_F(CodeIndex, FindsFilesByTheirWordsOnceEach) {
  write("gemm.cu", "void tma_load();\nvoid tma_load_again();\n");
  write("copy.cu", "void copy();\n");
  EXPECT_EQ(update().read, 2);
  EXPECT_THAT(files_with("load by TMA"), ElementsAre("kernels/gemm.cu"));
}

TEST_F(CodeIndex, ReadsOnlyWhatChanged) {
  write("a.h", "int one;");
  write("b.h", "int two;");
  update();
  EXPECT_EQ(update().read, 0);
  write("b.h", "int three;");
  const FolderUpdate changed = update();
  EXPECT_EQ(changed.read, 1);
  EXPECT_EQ(changed.files, 2);
  EXPECT_THAT(files_with("two"), IsEmpty());
  EXPECT_THAT(files_with("three"), ElementsAre("kernels/b.h"));
}

TEST_F(CodeIndex, KnowsAFileOfAnotherTimeByItsContent) {
  write("a.h", "int one;");
  update();
  fs::last_write_time(root() / "a.h", fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(update().read, 0);
  EXPECT_THAT(files_with("one"), ElementsAre("kernels/a.h"));
}

TEST_F(CodeIndex, ForgetsFilesThatAreGone) {
  write("a.h", "int one;");
  write("b.h", "int two;");
  update();
  fs::remove(root() / "a.h");
  const FolderUpdate after = update();
  EXPECT_EQ(after.removed, 1);
  EXPECT_EQ(after.files, 1);
  EXPECT_THAT(files_with("one"), IsEmpty());
}

TEST_F(CodeIndex, ForgetsAFolder) {
  write("a.h", "int one;");
  update();
  Database index = open();
  const Result<std::vector<IndexedFolder>> folders = indexed_folders(index);
  ASSERT_TRUE(folders.ok());
  ASSERT_EQ(folders->size(), 1U);
  ASSERT_TRUE(forget_folder(index, folders->front()).ok());
  EXPECT_THAT(files_with("one"), IsEmpty());
  EXPECT_THAT(*indexed_folders(index), IsEmpty());
}

TEST_F(CodeIndex, LabelsFoldersApart) {
  Database index = open();
  EXPECT_EQ(need_folder(index, "kernels", "/one/kernels")->label, "kernels");
  EXPECT_EQ(need_folder(index, "kernels", "/two/kernels")->label, "kernels-2");
  EXPECT_EQ(need_folder(index, "kernels", "/one/kernels")->label, "kernels");
}

TEST_F(CodeIndex, PassesOverBinaryFilesAndOneThatBecameBinary) {
  write("data.h", std::string("tma\0tma", 7));
  write("text.h", "int tma;");
  EXPECT_THAT(update().binary, ElementsAre("data.h"));
  write("text.h", std::string("int wgmma;\0", 11));
  EXPECT_THAT(update().binary, ElementsAre("data.h", "text.h"));
  EXPECT_THAT(files_with("tma wgmma"), IsEmpty());
}

TEST_F(CodeIndex, PassesOverHugeFiles) {
  write("small.h", "int tma;");
  write("huge.h", "");
  fs::resize_file(root() / "huge.h", std::uintmax_t{100} << 20);
  const FolderUpdate done = update();
  EXPECT_THAT(done.too_large, ElementsAre("huge.h"));
  EXPECT_EQ(done.files, 1);
}

TEST_F(CodeIndex, FollowsNoLinks) {
  write("sub/a.h", "int tma;");
  fs::create_directory_symlink(root(), root() / "sub" / "around");
  fs::create_symlink(root() / "sub" / "a.h", root() / "again.h");
  fs::create_symlink(root() / "nowhere", root() / "broken.h");
  EXPECT_EQ(update().files, 1);
}

TEST_F(CodeIndex, PassesOverHiddenFolders) {
  write(".git/a.h", "int tma;");
  write("b.h", "int tma;");
  EXPECT_THAT(update().files, 1);
}

TEST_F(CodeIndex, NamesAFolderThatIsNotThere) {
  EXPECT_THAT(walk_folder(root() / "none").error().text(),
              AllOf(HasSubstr("kernels/none: cannot be read as a folder (No such file"),
                    HasSubstr("name a folder that is there")));
  write("a.h", "int one;");
  EXPECT_THAT(walk_folder(root() / "a.h").error().text(), HasSubstr("Not a directory"));
}

TEST_F(CodeIndex, KeepsWhatCannotBeReadAnyMore) {
  write("sub/a.h", "int one;");
  write("b.h", "int two;");
  write("c.h", "int three;");
  update();
  Walk found;  // as where the rights to `sub` and `c.h` were taken away
  found.unreadable = {"sub/", "c.h"};
  found.files = {{.path = "b.h", .place = "b.h", .size = 8, .changed = 1}};
  fs::remove(root() / "b.h");
  const FolderUpdate after = update(found);
  EXPECT_THAT(after.unreadable, ElementsAre("sub/", "c.h", "b.h"));
  EXPECT_EQ(after.files, 3);
  EXPECT_THAT(files_with("one"), ElementsAre("kernels/sub/a.h"));
}

TEST_F(CodeIndex, TellsOfFoldersThatMayNotBeRead) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  write("sub/a.h", "int one;");
  fs::permissions(root() / "sub", fs::perms::none);
  EXPECT_THAT(walk().unreadable, ElementsAre("sub/"));
  fs::permissions(root() / "sub", fs::perms::owner_all);
}

TEST_F(CodeIndex, AddsSymbolsOnceCtagsIsThere) {
  const std::optional<std::string> ctags = find_ctags();
  if (!ctags) {
    GTEST_SKIP() << no_ctags;
  }
  write("a.cu",
        "namespace kp {\ntemplate <int N>\nstruct Pipeline {\n  void acquire() {}\n};\n}\n");
  EXPECT_EQ(update().symbols, 0);
  EXPECT_EQ(update(walk(), ctags).symbols, 2);
  EXPECT_EQ(update(walk(), ctags).read, 0);
  EXPECT_EQ(update().symbols, 2);
  Database index = open(StoreMode::read);
  const Result<std::vector<SymbolHit>> hits = find_symbols(index, "Pipeline", 10);
  ASSERT_TRUE(hits.ok()) << hits.error().text();
  ASSERT_EQ(hits->size(), 1U);
  EXPECT_EQ(hits->front().symbol, (Symbol{"Pipeline", "struct", "kp", 3, 5}));
  EXPECT_EQ(hits->front().text, "struct Pipeline {\n");
  EXPECT_EQ(find_symbols(index, "Pipeline::acquire", 10)->size(), 1U);
  EXPECT_EQ(find_symbols(index, "Other::acquire", 10)->size(), 0U);
  EXPECT_EQ(find_symbols(index, "pipeline", 10)->size(), 1U);
  EXPECT_EQ(find_symbols(index, "quir", 10)->front().symbol.name, "acquire");
}

TEST_F(CodeIndex, StoppedIsAsItWas) {
  write("a.h", "int one;");
  update();
  write("a.h", "int two;");
  Database index = open();
  std::stop_source stop;
  stop.request_stop();
  const Result<FolderUpdate> done = update_folder(
      index, *need_folder(index, "kernels", root().string()), root(), walk(), {}, stop.get_token());
  EXPECT_EQ(done.error().kind, ErrorKind::interrupted);
  EXPECT_THAT(files_with("one"), ElementsAre("kernels/a.h"));
}

TEST_F(CodeIndex, IsAskedByTrigramsWhereNoFileHasTheWord) {
  write("a.h", "int warpspecialized;");
  update();
  EXPECT_THAT(files_with("pspecial"), ElementsAre("kernels/a.h"));
  EXPECT_THAT(files_with("xq"), IsEmpty());
}

TEST_F(CodeIndex, TakesAnyQuestion) {
  write("a.h", "int one;");
  update();
  EXPECT_THAT(files_with(""), IsEmpty());
  EXPECT_THAT(files_with("\" OR * NEAR( ) - : ^ ' ;"), IsEmpty());
  EXPECT_THAT(files_with(std::string(100'000, 'a') + " one"), ElementsAre("kernels/a.h"));
}

TEST_F(CodeIndex, ReadsAFileByTheEndOfItsName) {
  write("one/a.h", "1\n");
  write("two/a.h", "2\n");
  write("b.h", "3\n");
  update();
  Database index = open(StoreMode::read);
  EXPECT_EQ(read_text(index, "two/a.h")->text, "2\n");
  EXPECT_EQ(read_text(index, "kernels/b.h")->text, "3\n");
  EXPECT_THAT(read_text(index, "a.h").error().text(),
              HasSubstr("2 files end like this: kernels/one/a.h, kernels/two/a.h. Give more"));
  EXPECT_THAT(read_text(index, ".h").error().text(), HasSubstr("is not in the index"));
  EXPECT_THAT(read_text(index, "%").error().text(), HasSubstr("is not in the index"));
}

TEST_F(CodeIndex, ThatIsNotThereSaysHowToMakeOne) {
  EXPECT_THAT(open_index(store(), StoreMode::read).error().text(),
              HasSubstr("no code is indexed yet: `kernelpro code index DIR...`"));
}

TEST_F(CodeIndex, OfAnotherVersionIsRefused) {
  {
    ASSERT_TRUE(open().script("PRAGMA user_version = 99").ok());
  }
  for (const StoreMode mode : {StoreMode::read, StoreMode::write}) {
    EXPECT_THAT(open_index(store(), mode).error().text(),
                AllOf(HasSubstr("made by another kernelpro: it is version 99"),
                      HasSubstr("kernelpro code index DIR...")));
  }
}

TEST_F(CodeIndex, OfAnotherProgramIsLeftAlone) {
  fs::create_directories(store());
  {
    Result<Database> other = Database::open(index_file(store()), store::Access::write);
    ASSERT_TRUE(other->script("CREATE TABLE mine (x)").ok());
  }
  const std::string before = *read_file(index_file(store()));
  EXPECT_THAT(open_index(store(), StoreMode::write).error().text(),
              HasSubstr("not an index of code"));
  EXPECT_EQ(*read_file(index_file(store())), before);
}

TEST_F(CodeIndex, ThatIsDamagedSaysWhatToDo) {
  for (int number = 0; number < 200; ++number) {
    write("f" + std::to_string(number) + ".h", "int tma_" + std::to_string(number) + ";");
  }
  update();
  std::string bytes = *read_file(index_file(store()));
  std::fill(bytes.begin() + 4096, bytes.end(), 'x');
  ASSERT_TRUE(write_file_unsynced(index_file(store()), bytes).ok());
  Result<Database> index = open_index(store(), StoreMode::read);
  const Error error = index.ok() ? search_words(*index, "tma", 10, {}).error() : index.error();
  EXPECT_THAT(error.text(), AllOf(HasSubstr("damaged"), HasSubstr("remove it, and run `kernelpro "
                                                                  "code index DIR...`")));
  ASSERT_TRUE(write_file_unsynced(index_file(store()), "no database at all").ok());
  EXPECT_THAT(open_index(store(), StoreMode::write).error().text(),
              HasSubstr("not an index of code: it is no SQLite database"));
}

}  // namespace
}  // namespace kernelpro::code
