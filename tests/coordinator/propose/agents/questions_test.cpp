// What a model has to know of task, rules and device, asked as questions about three whole prompts:
// whoever reads a prompt and nothing else must be able to answer those beside it, in questions/. A
// test cannot read; that the words of each answer stand in the prompt it can see.
#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/propose/agents/h200_situations.hpp"
#include "coordinator/propose/agents/rendering.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {
namespace {

using kernelpro::testing::agent_tests;
using kernelpro::testing::expect_golden;
using kernelpro::testing::file_text;
using kernelpro::testing::plenty;
using kernelpro::testing::rendered;
using kernelpro::testing::Situation;
using kernelpro::testing::whole;
using ::testing::HasSubstr;

// The prompt as golden/NAME.txt has it, and questions/NAME.json, each of whose answers follows.
void expect_answered(const std::string& name, const std::string& prompt) {
  expect_golden(name, prompt);
  const nlohmann::json questions =
      nlohmann::json::parse(file_text(agent_tests / "questions" / (name + ".json")));
  EXPECT_EQ(questions.size(), 20U);
  const std::string text = one_line(prompt);
  std::set<std::string> asked;
  for (const nlohmann::json& one : questions) {
    const auto question = one.at("question").get<std::string>();
    EXPECT_TRUE(asked.insert(question).second) << question;
    EXPECT_FALSE(one.at("answer").get<std::string>().empty()) << question;
    EXPECT_FALSE(one.at("in_prompt").empty()) << question;
    for (const nlohmann::json& words : one.at("in_prompt")) {
      EXPECT_THAT(text, HasSubstr(words.get<std::string>())) << question;
    }
  }
}

TEST(Questions, OnAProductsCoder) {
  Situation situation;
  kernelpro::testing::fill_gemm(situation);
  const Rendered prompt =
      rendered(situation, LlmRole::coder, plenty, kernelpro::testing::gemm_plan());
  expect_answered("coder_gemm", whole(prompt));
}

TEST(Questions, OnTheFirstPlanOfAWholeNetwork) {
  Situation situation;
  kernelpro::testing::fill_small_net(situation);
  expect_answered("planner_small_net", whole(rendered(situation, LlmRole::planner)));
}

TEST(Questions, OnTheRepairOfWhatIsNotPrecise) {
  Situation situation;
  kernelpro::testing::fill_imprecise(situation);
  expect_answered("fixer_imprecise", whole(rendered(situation, LlmRole::fixer)));
}

}  // namespace
}  // namespace kernelpro::agents
