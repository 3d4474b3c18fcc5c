#include "coordinator/rewrite/rewriter.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "coordinator/rewrite/fixture.hpp"

namespace kernelpro {
namespace {

using testing::gemm;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::parsed;
using testing::refusal;
using testing::rewritten;

TEST(RewriterTest, NamesAreSorted) {
  const std::vector<std::string> names = rewriter_names();
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_GE(names.size(), 17U);
}

TEST(RewriterTest, AnUnknownNameListsTheKnownOnes) {
  EXPECT_THAT(refusal("blok", gemm()),
              HasSubstr("there is no rewriter \"blok\"; known are delinearize, fission"));
}

TEST(RewriterTest, AnUnknownArgumentListsTheKnownOnes) {
  EXPECT_THAT(refusal("tile", gemm(), {{"size", "4"}}),
              HasSubstr("tile takes no argument \"size\"; it takes site"));
  EXPECT_THAT(refusal("parallel", gemm(), {{"schedule", "fast"}}),
              HasSubstr("the schedule \"fast\" is not one of static, dynamic, guided"));
}

TEST(RewriterTest, ResultsAreFewDifferentAndNotTheSource) {
  for (const char* name : {"parallel", "register_block", "simd"}) {
    std::set<std::string> sources = {gemm()};
    const std::vector<Rewritten> all = rewritten(name, gemm());
    EXPECT_LE(all.size(), 8U);
    for (const Rewritten& one : all) {
      EXPECT_TRUE(sources.insert(one.source).second) << one.source;
      EXPECT_FALSE(one.site.empty());
      EXPECT_FALSE(one.summary.empty());
    }
  }
}

TEST(RewriterTest, ASiteNarrowsTheResults) {
  for (const Rewritten& one : rewritten("parallel", gemm(), {{"site", "gemm: j"}})) {
    EXPECT_EQ(one.site, "gemm: j");
  }
  EXPECT_THAT(refusal("parallel", gemm(), {{"site", "nowhere"}}),
              HasSubstr("parallel does not apply: no site matches \"nowhere\""));
}

TEST(RewriterTest, ASourceWithoutLoopsIsRefusedByAll) {
  const Program program = parsed("int f() { return 1; }\n");
  for (const std::string& name : rewriter_names()) {
    const Result<std::vector<Rewritten>> results = rewrite(name, program, {});
    ASSERT_FALSE(results.ok()) << name;
    EXPECT_EQ(results.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(results.error().text(), HasSubstr(name + " does not apply: "));
  }
}

TEST(RewriterTest, NamesDoNotMatter) {
  std::string other = gemm();
  for (std::size_t at = other.find("gemm"); at != std::string::npos; at = other.find("gemm")) {
    other.replace(at, 4, "zzzz");
  }
  for (const char* name : {"register_block", "parallel", "interchange"}) {
    EXPECT_EQ(rewritten(name, gemm()).size(), rewritten(name, other).size()) << name;
  }
}

}  // namespace
}  // namespace kernelpro
