// How a user builds a file, as compile_commands.json or the command line says.
#include "coordinator/app/own_build.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;

TEST(BuildOptions, AreWordsOfAShellAndTwoAreProbed) {
  NewTask wishes;
  take_build_line("-O3 -march=native  -fopenmp", wishes);
  EXPECT_THAT(wishes.options, ElementsAre("-O3", "target", "openmp"));
  EXPECT_TRUE(wishes.flags.empty());
  NewTask pasted;
  take_build_line(R"(-DNAME="a b" '-O2' -I include -std=c++20)", pasted);
  EXPECT_THAT(pasted.options, ElementsAre("-O2", "-std=c++20"));
  EXPECT_THAT(pasted.flags, ElementsAre("-DNAME=a b", "-Iinclude", "-std=c++20"));
}

class OwnBuild : public ::testing::Test {
 protected:
  [[nodiscard]] Status added(const std::string& database, NewTask& wishes) const {
    const auto folder = folder_->path();
    EXPECT_TRUE(write_file_unsynced(folder / "mine.cpp", "").ok());
    EXPECT_TRUE(write_file_unsynced(folder / "compile_commands.json", database).ok());
    return add_own_build(folder / "mine.cpp", folder / "compile_commands.json", wishes);
  }

  [[nodiscard]] std::string folder() const { return folder_->path().string(); }

 private:
  Result<ScratchDir> folder_ = ScratchDir::create("own-build-test");
};

TEST_F(OwnBuild, TakesTheOptionsOfTheFile) {
  NewTask wishes;
  const Status status =
      added(R"([{"directory": ")" + folder() + R"(", "file": "other.cpp", "command": "g++ -O0"},
          {"directory": ")" +
                folder() + R"(", "file": "mine.cpp",
           "arguments": ["g++", "-O3", "-DN=4", "-Iinner", "-c", "mine.cpp"]}])",
            wishes);
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_THAT(wishes.options, ElementsAre("-O3", "-DN=4"));
  EXPECT_THAT(wishes.flags, ElementsAre("-DN=4", "-I" + folder() + "/inner"));
}

TEST_F(OwnBuild, RefusesWhatIsNoDatabaseInsteadOfEnding) {
  for (const char* database :
       {"", "{", "{}", "[1]", R"([{"file": 1}])", R"([{"file": "a", "directory": []}])",
        R"([{"file": "a", "arguments": "x"}])", R"([{"file": "a", "arguments": [1]}])",
        R"([{"command": "g++"}])", R"([{"file": "a", "command": {}}])"}) {
    NewTask wishes;
    EXPECT_FALSE(added(database, wishes).ok()) << database;
  }
}

}  // namespace
}  // namespace kernelpro
