#include "coordinator/suite/checkout.hpp"

#include <gmock/gmock.h>

#include "common/base/checkout.hpp"
#include "common/base/file.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename T>
std::string error_of(const Result<T>& result) {
  EXPECT_FALSE(result.ok());
  if (result.ok()) {
    return "";
  }
  EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
  return result.error().text();
}

class Checkout : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_.ok()) << scratch_.error().text();
    for (const char* file : {"level1/10_Ten.py", "level1/2_Two.py", "level1/notes.txt",
                             "level1/7.py", "level1/x_Three.py", "level3/2_Other.py"}) {
      add(fs::path("repo/KernelBench") / file);
    }
  }

  void add(const fs::path& file) const {
    EXPECT_TRUE(make_directories((place() / file).parent_path()).ok());
    EXPECT_TRUE(write_file_unsynced(place() / file, "# empty\n").ok());
  }

  [[nodiscard]] const fs::path& place() const { return scratch_->path(); }
  [[nodiscard]] fs::path repo() const { return place() / "repo"; }

  static std::vector<std::string> names(const Result<std::vector<SuiteProblem>>& problems) {
    EXPECT_TRUE(problems.ok()) << problems.error().text();
    std::vector<std::string> out;
    for (std::size_t i = 0; problems.ok() && i < problems->size(); ++i) {
      out.push_back(text_of((*problems)[i].id) + " " + (*problems)[i].name);
    }
    return out;
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("checkout-test");
};

TEST(Numbers, AreListsAndRanges) {
  const Result<std::vector<int>> numbers = parse_numbers("19-22,1,20", "--problems");
  ASSERT_TRUE(numbers.ok());
  EXPECT_THAT(*numbers, ElementsAre(1, 19, 20, 21, 22));
}

TEST(Numbers, OtherTextIsRefusedWithTheFlag) {
  for (const char* text : {"", "0", "-1", "a", "1,,2", "5-2", "1-", "1x", "99999999999", "1 ,2"}) {
    EXPECT_THAT(error_of(parse_numbers(text, "--levels")),
                HasSubstr("--levels: expected numbers such as 1,19-23"))
        << text;
  }
}

TEST_F(Checkout, ProblemsComeByLevelAndNumber) {
  EXPECT_THAT(names(list_problems(repo(), {1, 3})),
              ElementsAre("1_2 2_Two", "1_10 10_Ten", "3_2 2_Other"));
  EXPECT_THAT(names(list_problems(repo() / "KernelBench", {3})), ElementsAre("3_2 2_Other"));
}

TEST_F(Checkout, AMissingCheckoutALevelAndAnotherLayoutAreNamed) {
  EXPECT_THAT(error_of(list_problems(place() / "nowhere", {1})), HasSubstr("no such folder"));
  EXPECT_THAT(error_of(list_problems(repo(), {1, 2})),
              HasSubstr("it has no level 2; its levels are level1, level3"));
  EXPECT_TRUE(make_directories(place() / "other").ok());
  EXPECT_THAT(error_of(list_problems(place() / "other", {1})),
              HasSubstr("neither KernelBench/level1 nor level1"));
  EXPECT_TRUE(make_directories(place() / "bare/level1").ok());
  EXPECT_THAT(error_of(list_problems(place() / "bare", {1})), HasSubstr("it has no problem"));
  add("repo/KernelBench/level3/2_Again.py");
  EXPECT_THAT(error_of(list_problems(repo(), {3})),
              HasSubstr("problem 2 is there twice: 2_Again and 2_Other"));
}

TEST_F(Checkout, ProblemsAreChosenByNumber) {
  const Result<std::vector<SuiteProblem>> all = list_problems(repo(), {1, 3});
  ASSERT_TRUE(all.ok());
  EXPECT_THAT(names(choose_problems(*all, {2})), ElementsAre("1_2 2_Two", "3_2 2_Other"));
  // One level has it: the other need not.
  EXPECT_THAT(names(choose_problems(*all, {10})), ElementsAre("1_10 10_Ten"));
  EXPECT_EQ(names(choose_problems(*all, {})).size(), 3U);
  EXPECT_THAT(error_of(choose_problems(*all, {2, 4, 5})),
              HasSubstr("no chosen level has problem 4, 5"));
}

TEST_F(Checkout, TheCommitIsThatOfTheCheckoutThatHasTheFolder) {
  EXPECT_EQ(checkout_commit(repo()), "");
  if (!find_program("git")) {
    FAIL() << "there is no git: install Debian's git";
  }
  Command command;
  command.arguments = {"sh", "-c",
                       "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit "
                       "-q -m x && git rev-parse HEAD"};
  command.directory = repo().string();
  const Result<Finished> made = run_command(command);
  ASSERT_TRUE(made.ok() && made->succeeded()) << made->errors;
  const std::string commit = made->output.substr(0, 40);
  EXPECT_EQ(checkout_commit(repo()), commit);
  EXPECT_EQ(checkout_commit(repo() / "KernelBench"), commit);
  EXPECT_EQ(checkout_commit(repo() / "KernelBench/level1"), commit);
  ASSERT_TRUE(make_directories(repo() / "not_in_it"));
  EXPECT_EQ(checkout_commit(repo() / "not_in_it"), "");
}

TEST_F(Checkout, CandidatesAreNamedForTheirProblems) {
  const Result<std::vector<SuiteProblem>> all = list_problems(repo(), {1});
  ASSERT_TRUE(all.ok());
  const fs::path folder = place() / "candidates";
  EXPECT_THAT(error_of(find_candidates(folder, ".cu", *all)), HasSubstr("no such folder"));
  add("candidates/1_2.cu");
  add("candidates/1_2.cpp");
  add("candidates/readme.md");
  add("candidates/2_77.cu");  // of a level that was not chosen
  const Result<std::map<ProblemId, fs::path>> found = find_candidates(folder, ".cu", *all);
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->at({1, 2}), folder / "1_2.cu");
  EXPECT_FALSE(found->contains({1, 10}));
  EXPECT_THAT(error_of(find_candidates(folder, ".c", *all)),
              HasSubstr("it has no candidate: expected files such as 1_19.c,"));
  add("candidates/1_77.cu");
  EXPECT_THAT(error_of(find_candidates(folder, ".cu", *all)),
              HasSubstr("1_77.cu: level 1 has no problem 77"));
  fs::remove(folder / "1_77.cu");
  add("candidates/relu.cu");
  EXPECT_THAT(error_of(find_candidates(folder, ".cu", *all)),
              HasSubstr("relu.cu: expected a name such as 1_19.cu"));
}

}  // namespace
}  // namespace kernelpro
