// The end of the survey that asks, with shell scripts in the place of PyTorch.
#include "coordinator/suite/survey.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "common/base/set_variable.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Answers each line that it reads by what `body` does with it.
Survey survey_by(const std::string& body, std::int64_t timeout_ms = 30'000) {
  Command command;
  command.arguments = {"/bin/sh", "-c", "while read -r line; do\n" + body + "\ndone"};
  return {command, timeout_ms};
}

Result<SurveyAnswer> ask(Survey& survey, const std::string& problem) {
  return survey.ask(problem, {"eager"}, 3, {});
}

TEST(Survey, AnswersAreReadAndOneProcessGivesThemAll) {
  Survey survey = survey_by(
      R"(echo '{"problem": "/p.py", "device": "'$$'", "torch": "2", "described": {"flops": 1},)"
      R"( "degenerate": ["zeros pass"], "times": {"eager": [5, 6]}, "failed": {},)"
      R"( "new": 1}')");
  const Result<SurveyAnswer> first = ask(survey, "/p.py");
  ASSERT_TRUE(first.ok()) << first.error().text();
  EXPECT_EQ(first->described, R"({"flops":1})");
  EXPECT_THAT(first->degenerate, ElementsAre("zeros pass"));
  EXPECT_THAT(first->times, ElementsAre(Pair("eager", ElementsAre(5, 6))));
  EXPECT_EQ(first->refused, "");
  const Result<SurveyAnswer> second = ask(survey, "/p.py");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->device, first->device);  // the number of the process
}

TEST(Survey, AProcessInWhichSomethingFailedAnswersNoMore) {
  Survey survey = survey_by(
      "case $line in *bad*) failed='\"compile\": \"CUDA error\"'; name=bad;; *) failed=; "
      "name=good;; esac\n"
      R"(echo '{"problem": "/'$name'.py", "device": "'$$'", "times": {"eager": [5]},)"
      R"( "failed": {'$failed'}}')");
  const Result<SurveyAnswer> before = ask(survey, "/good.py");
  const Result<SurveyAnswer> bad = ask(survey, "/bad.py");
  const Result<SurveyAnswer> after = ask(survey, "/good.py");
  ASSERT_TRUE(before.ok() && bad.ok() && after.ok());
  EXPECT_THAT(bad->failed, ElementsAre(Pair("compile", "CUDA error")));
  EXPECT_EQ(bad->device, before->device);  // the number of the process
  EXPECT_NE(after->device, bad->device);
}

TEST(Survey, ARefusalMayComeAlone) {
  Survey survey = survey_by(R"(echo '{"problem": "/p.py", "refused": "random in itself"}')");
  const Result<SurveyAnswer> answer = ask(survey, "/p.py");
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer->refused, "random in itself");
  EXPECT_TRUE(answer->times.empty());
}

TEST(Survey, AProcessThatDiesIsStartedAgainForTheNextProblem) {
  Survey survey = survey_by(
      "case $line in *bad*) kill -9 $$;; *exit*) exit 3;; esac\n"
      R"(echo '{"problem": "/good.py"}')");
  for (const char* problem : {"/bad.py", "/exit.py"}) {
    const Result<SurveyAnswer> lost = ask(survey, problem);
    ASSERT_FALSE(lost.ok());
    EXPECT_EQ(lost.error().kind, ErrorKind::lost);
    EXPECT_TRUE(ask(survey, "/good.py").ok());
  }
}

TEST(Survey, AProblemThatTakesTooLongIsGivenUp) {
  Survey survey = survey_by(
      "case $line in *slow*) sleep 60;; esac\n"
      R"(echo '{"problem": "/good.py"}')",
      2000);
  const Result<SurveyAnswer> late = ask(survey, "/slow.py");
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().kind, ErrorKind::timeout);
  EXPECT_THAT(late.error().text(), HasSubstr("did not get through it within 2 s (--limit)"));
  EXPECT_TRUE(ask(survey, "/good.py").ok());
}

TEST(Survey, AnswersThatMakeNoSenseAreErrors) {
  const struct {
    const char* answer;
    const char* said;
  } cases[] = {
      {"hello", "is not understood"},
      {"[]", "is not understood"},
      {R"({"times": {}})", "problem"},
      {R"({"problem": "/other.py"})", "it is about /other.py"},
      {R"({"problem": "/p.py", "times": {"eager": [0]}})", "not a positive number"},
      {R"({"problem": "/p.py", "times": {"eager": "fast"}})", "/times/eager"},
  };
  for (const auto& wrong : cases) {
    Survey survey = survey_by("echo '" + std::string(wrong.answer) + "'");
    const Result<SurveyAnswer> answer = ask(survey, "/p.py");
    ASSERT_FALSE(answer.ok()) << wrong.answer;
    EXPECT_EQ(answer.error().kind, ErrorKind::lost);
    EXPECT_THAT(answer.error().text(), HasSubstr(wrong.said));
  }
}

TEST(Survey, AProgramThatIsNotThereIsNotTheProblemsFault) {
  Command command;
  command.arguments = {"/nowhere/python3"};
  Survey survey(command, 1000);
  const Result<SurveyAnswer> answer = ask(survey, "/p.py");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::environment);
}

TEST(Survey, AStopIsHeard) {
  Survey survey = survey_by("sleep 60");
  std::stop_source source;
  source.request_stop();
  const Result<SurveyAnswer> answer = survey.ask("/p.py", {"eager"}, 3, source.get_token());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::interrupted);
}

TEST(SurveyEnvironment, ShowsPyTorchOneGpuOrNone) {
  EXPECT_THAT(survey_environment(Backend::cpu, 0), ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "")));
  {
    const SetVariable none("CUDA_VISIBLE_DEVICES", std::nullopt);
    EXPECT_THAT(survey_environment(Backend::cuda, 1),
                ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "1")));
  }
  const SetVariable some("CUDA_VISIBLE_DEVICES", "4,7");
  EXPECT_THAT(survey_environment(Backend::cuda, 1), ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "7")));
}

}  // namespace
}  // namespace kernelpro
