#include "coordinator/config/config.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ManualOption option(std::vector<std::string> names, std::string value, bool repeatable = false) {
  ManualOption out;
  out.names = std::move(names);
  out.value = std::move(value);
  out.repeatable = repeatable;
  return out;
}

// kernelpro with `make [--size -n] [--quiet] [--loud] [--into DIR] [--tag]...` and `task list`.
ManualCommand sample() {
  ManualCommand root;
  root.path = {"kernelpro"};
  ManualCommand make;
  make.path = {"kernelpro", "make"};
  make.options = {option({"--size", "-n"}, "INT"), option({"--quiet"}, ""),
                  option({"--loud"}, ""),          option({"--into"}, "DIR"),
                  option({"--tag"}, "TEXT", true), option({"--depth"}, "INT")};
  make.options[1].excludes = {"--loud"};
  make.options[5].needs = {"--into"};
  ManualCommand list;
  list.path = {"kernelpro", "task", "list"};
  list.options = {option({"--quiet"}, "")};
  ManualCommand task;
  task.path = {"kernelpro", "task"};
  task.runs_alone = false;
  task.commands = {list};
  root.commands = {make, task};
  return root;
}

class ConfigReader : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(folder_.ok()) << folder_.error().text(); }

  [[nodiscard]] Result<Config> load(const std::string& text) const {
    const std::filesystem::path file = folder_->path() / "kernelpro.toml";
    EXPECT_TRUE(write_file_unsynced(file, text).ok());
    return load_config(file, root_);
  }

  // The words that are put behind those of `kernelpro make WORDS`.
  [[nodiscard]] std::vector<std::string> added(const std::string& text,
                                               const std::vector<std::string>& words) const {
    const Result<Config> config = load(text);
    EXPECT_TRUE(config.ok()) << config.error().text();
    const ManualCommand& make = root_.commands.front();
    std::vector<std::string> out;
    for (const ConfigDefault& one : in_force(defaults_of(*config, make), make, words)) {
      const std::vector<std::string> more = as_words(one);
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

  [[nodiscard]] std::filesystem::path folder() const { return folder_->path(); }

 private:
  ManualCommand root_ = sample();
  Result<ScratchDir> folder_ = ScratchDir::create("config-test");
};

TEST_F(ConfigReader, ValuesBecomeWordsThatNoOtherWordCanSplit) {
  EXPECT_THAT(added("[make]\nsize = 3\ntag = [\"-a\", \"b c\"]\nquiet = true\nloud = false\n", {}),
              ElementsAre("--size=3", "--tag=-a", "--tag=b c", "--quiet"));
  EXPECT_THAT(added("[make]\ninto = \"out\"\n", {}),
              ElementsAre("--into=" + (folder() / "out").string()));
  EXPECT_THAT(added("[make]\ninto = \"/out\"\n", {}), ElementsAre("--into=/out"));
}

TEST_F(ConfigReader, TheCommandLineWins) {
  const std::string size = "[make]\nsize = 3\n";
  for (const std::string word : {"--size", "--size=4", "-n", "-n4"}) {
    EXPECT_THAT(added(size, {"make", word}), IsEmpty()) << word;
  }
  EXPECT_THAT(added(size, {"make", "--sizes", "--", "size"}), ElementsAre("--size=3"));
}

TEST_F(ConfigReader, WhatIsExcludedOrLacksItsNeedIsLeftOut) {
  EXPECT_THAT(added("quiet = true\n", {"make", "--loud"}), IsEmpty());
  EXPECT_THAT(added("quiet = true\n", {"make"}), ElementsAre("--quiet"));
  EXPECT_THAT(added("[make]\ndepth = 3\n", {"make"}), IsEmpty());
  EXPECT_THAT(added("[make]\ndepth = 3\n", {"make", "--into", "x"}), ElementsAre("--depth=3"));
  EXPECT_THAT(added("[make]\ndepth = 3\ninto = \"/x\"\n", {"make"}),
              ElementsAre("--depth=3", "--into=/x"));
}

TEST_F(ConfigReader, TheTableOfACommandComesBeforeWhatIsSaidOfAll) {
  EXPECT_THAT(added("size = 1\n[make]\nsize = 2\n", {}), ElementsAre("--size=2"));
  EXPECT_THAT(added("quiet = true\n[make]\nquiet = false\n", {}), IsEmpty());
}

TEST_F(ConfigReader, ErrorsNameTheLine) {
  const auto error = [this](const std::string& text) {
    const Result<Config> config = load(text);
    return config.ok() ? "" : config.error().text();
  };
  EXPECT_THAT(error("[make]\n\nsiez = 3\n"),
              HasSubstr("kernelpro.toml:3: siez: `kernelpro make` has no such option; did you mean "
                        "\"size\"?"));
  EXPECT_THAT(error("[mke]\n"), HasSubstr(":1: mke: `kernelpro` has no such command; did you mean "
                                          "\"make\"?"));
  EXPECT_THAT(error("[task.make]\n"), HasSubstr("known are \"list\""));
  EXPECT_THAT(error("[task.list]\nsize = 3\n"), HasSubstr("`kernelpro task list` has no such"));
  EXPECT_THAT(error("[make]\nsize = 1979-05-27\n"), HasSubstr("found a date or a time"));
  EXPECT_THAT(error("[make]\nsize = \"\"\n"), HasSubstr("expected a value"));
  EXPECT_THAT(error("[make]\nn = 3\n"), HasSubstr("has no such option")) << "long names only";
  EXPECT_EQ(error(""), "");
}

}  // namespace
}  // namespace kernelpro
