// Judging from the command line.
#include "cli/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Evaluate : public Cli {
 protected:
  // `kernelpro evaluate` of these files of tests/cli/data.
  static Words judging(const Words& sources, const Words& more = {}) {
    Words arguments = {"evaluate", data("wave")};
    for (const std::string& source : sources) {
      arguments.push_back(data(source));
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(Evaluate, AFasterCandidateIsShownInFullAndExitsWithZero) {
  const Finished finished = kernelpro(judging({"fast.cpp"}));
  expect_exit(finished, 0);
  EXPECT_THAT(finished.output,
              AllOf(HasSubstr("wave · fast: passed"), HasSubstr("times as fast as the baseline"),
                    HasSubstr("n=300"), HasSubstr("noise floor"), HasSubstr("checks, judged in")));
  std::istringstream said(finished.errors);
  for (std::string line; std::getline(said, line);) {
    EXPECT_THAT(line, ContainsRegex("the machine is busy|another kernelpro judges"))
        << "no progress where nobody watches";
  }
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), IsEmpty());
}

TEST_F(Evaluate, SeveralCandidatesMakeATableAndOneBadOneExitsWithThree) {
  const Finished finished =
      kernelpro(judging({"unbuildable.cpp", "wrong.cpp", "fast.cpp"}, {"--no-timing", "plain"}));
  expect_exit(finished, 3);
  EXPECT_THAT(finished.output, AllOf(HasSubstr("wave  unbuildable  build_failed"),
                                     HasSubstr("wave  wrong        "
                                               "incorrect"),
                                     HasSubstr("wave  fast         passed"),
                                     HasSubstr("wave  plain        passed")));
}

TEST_F(Evaluate, ABadCandidateIsShownWithItsEvidence) {
  const Finished finished = kernelpro(judging({"unbuildable.cpp"}));
  expect_exit(finished, 3);
  EXPECT_THAT(finished.output, AllOf(HasSubstr("wave · unbuildable: build_failed"),
                                     HasSubstr("missing_name"), HasSubstr("ended in stage build")));
}

TEST_F(Evaluate, JsonAndCertificatesSayTheSameAndFollowTheirSchemas) {
  const Json result = json(judging({"fast.cpp", "fast.cpp", "wrong.cpp"},
                                   {"--no-timing", "--certificates", "deep/certificates"}),
                           "cli_evaluate.json", 3);
  ASSERT_EQ(result["evaluations"].size(), 3U);
  EXPECT_EQ(result["evaluations"][0]["certificate"]["verdict"]["outcome"], "passed");
  EXPECT_EQ(result["evaluations"][2]["certificate"]["verdict"]["outcome"], "incorrect");
  const fs::path folder = work() / "deep/certificates";
  EXPECT_THAT(names_in(folder),
              UnorderedElementsAre("wave-fast.certificate.json", "wave-fast-2.certificate.json",
                                   "wave-wrong.certificate.json"));
  const Json written = Json::parse(content_of(folder / "wave-wrong.certificate.json"));
  EXPECT_EQ(SchemaFile("certificate.json").complaints(written), "");
  EXPECT_EQ(written, result["evaluations"][2]["certificate"]);
}

TEST_F(Evaluate, WithoutASandboxEverythingShownIsMarkedUnverified) {
  const Finished one = kernelpro(judging({"fast.cpp"}, {"--no-timing", "--sandbox", "none"}));
  expect_exit(one, 0);
  EXPECT_THAT(one.output, AllOf(HasSubstr("wave · fast: passed (unverified)"),
                                HasSubstr("unverified: judged with --sandbox none")));
  const Finished two = kernelpro(judging(
      {"fast.cpp", "wrong.cpp"}, {"--no-timing", "--sandbox", "none", "--certificates", "c"}));
  expect_exit(two, 3);
  EXPECT_THAT(two.output, AllOf(HasSubstr("passed (unverified)"),
                                ContainsRegex("incorrect(: precision)? \\(unverified\\)")));
  for (const char* name : {"c/wave-fast.certificate.json", "c/wave-wrong.certificate.json"}) {
    const Json written = Json::parse(content_of(work() / name));
    EXPECT_EQ(written["verdict"]["verified"], false);
    EXPECT_EQ(written["sandbox"], "none");
  }
}

TEST_F(Evaluate, AnIncumbentOtherThanTheBaselineIsTheOneComparedWith) {
  const Finished finished = kernelpro(
      judging({"wave/baseline.cpp"}, {"--incumbent", data("fast.cpp"), "--option", "-O0"}));
  expect_exit(finished, 3);
  EXPECT_THAT(finished.output, AllOf(HasSubstr("baseline: passed"), HasSubstr("slower")));
}

TEST_F(Evaluate, ACompilerThatNobodyKnowsFailsTheBuildAndListsTheOnesThatAreThere) {
  const Finished finished = kernelpro(judging({"fast.cpp"}, {"--compiler", "clang++-77"}));
  expect_exit(finished, 3);
  EXPECT_THAT(finished.output,
              AllOf(HasSubstr("build_failed"), HasSubstr("no compiler \"clang++-77\""),
                    HasSubstr("known are")));
}

}  // namespace
}  // namespace kernelpro
