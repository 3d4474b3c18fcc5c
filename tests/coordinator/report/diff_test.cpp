#include "coordinator/report/diff.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/base/random.hpp"

namespace kernelpro {
namespace {

std::string diff(const std::string& before, const std::string& after) {
  return unified_diff(before, after, "a", "b");
}

TEST(Diff, IsEmptyForEqualTexts) {
  EXPECT_EQ(diff("", ""), "");
  EXPECT_EQ(diff("x\ny\n", "x\ny\n"), "");
}

TEST(Diff, ShowsAChangeWithThreeLinesOfContext) {
  EXPECT_EQ(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(Diff, JoinsChangesThatAreNearAndPartsThoseThatAreFar) {
  EXPECT_EQ(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\n8\ny\n"),
            "--- a\n+++ b\n@@ -1,9 +1,9 @@\n 1\n-2\n+x\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+y\n");
  EXPECT_EQ(diff("1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n"),
            "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,3 +6,4 @@\n 6\n 7\n 8\n+y\n");
}

TEST(Diff, NamesTheLineBeforeASideWithoutLines) {
  EXPECT_EQ(diff("", "1\n2\n"), "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+1\n+2\n");
  EXPECT_EQ(diff("1\n", ""), "--- a\n+++ b\n@@ -1 +0,0 @@\n-1\n");
}

TEST(Diff, MarksAMissingLastNewline) {
  EXPECT_EQ(diff("1\n2", "1\n2\n"),
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n");
}

// The number of edits is the least: the longest common subsequence is kept.
TEST(Diff, MakesNoMoreEditsThanNeeded) {
  const std::string text = diff("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n");
  std::size_t edits = 0;
  std::istringstream lines(text.substr(text.find("@@")));
  for (std::string line; std::getline(lines, line);) {
    edits += line[0] == '+' || line[0] == '-' ? 1 : 0;
  }
  EXPECT_EQ(edits, 5U);
}

std::string random_text(Random& random) {
  std::string text;
  for (std::uint64_t lines = random.below(40); lines > 0; --lines) {
    text += static_cast<char>('a' + random.below(6));
    text += '\n';
  }
  if (!text.empty() && random.below(3) == 0) {
    text.pop_back();
  }
  return text;
}

class PatchedDiff : public ::testing::TestWithParam<int> {};

TEST_P(PatchedDiff, TurnsTheOneTextIntoTheOther) {
  if (!find_program("patch")) {
    GTEST_SKIP() << "the program patch is not installed";
  }
  Random random(static_cast<std::uint64_t>(GetParam()));
  const auto scratch = ScratchDir::create("diff_test");
  ASSERT_TRUE(scratch.ok());
  for (int i = 0; i < 15; ++i) {
    const std::string before = random_text(random);
    const std::string after = random_text(random);
    ASSERT_TRUE(write_file_unsynced(scratch->path() / "text", before).ok());
    ASSERT_TRUE(write_file_unsynced(scratch->path() / "diff", diff(before, after)).ok());
    Command command;
    command.arguments = {"patch", "--silent", "--fuzz=0", "text", "diff"};
    command.directory = scratch->path().string();
    const auto patched = run_command(command);
    ASSERT_TRUE(patched.ok() && (before == after || patched->succeeded()))
        << diff(before, after) << (patched.ok() ? patched->output : "");
    // patch removes a file that becomes empty.
    const auto result = read_file(scratch->path() / "text");
    EXPECT_EQ(result.ok() ? *result : "", after);
  }
}

INSTANTIATE_TEST_SUITE_P(OfRandomTexts, PatchedDiff, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace kernelpro
