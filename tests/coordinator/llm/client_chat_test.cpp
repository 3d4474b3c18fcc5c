#include "coordinator/llm/client_chat.hpp"

#include <gmock/gmock.h>

#include "coordinator/llm/caller.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const Submission submission{.move = "tile",
                            .plan = "blocks of 32",
                            .predicted_gain = 1.5,
                            .source = "int kp_launch(); // ```\n",
                            .author = "an agent 1"};

ChatRequest request() {
  ChatRequest out;
  out.messages.emplace_back().text = "## The parent\n\nall that is known\n\nAnswer with JSON.";
  return out;
}

LlmCall asked(LlmRole role) {
  LlmCall call;
  call.node = 7;
  call.role = role;
  call.id = CallName{7, role, 1}.id();
  call.provider = client_name;
  call.request = ClientChat({}).body(request());
  return call;
}

Chat::Tried tried(ClientChat& chat, const std::string& id, const ChatRequest& with = request()) {
  return chat.try_once(id, with, {}, {});
}

TEST(ClientChat, WaitsUntilSomethingIsSubmitted) {
  const LlmCall call = asked(LlmRole::planner);
  EXPECT_TRUE(waits_for_client(call));
  ClientChat chat({call});
  const Chat::Tried nothing = tried(chat, call.id);
  EXPECT_FALSE(nothing.reply.answer.has_value());
  EXPECT_FALSE(nothing.failure.has_value());
}

TEST(ClientChat, TheBriefIsWhatIsAskedWithoutHowModelsAnswer) {
  const Result<std::string> brief = client_brief(asked(LlmRole::planner));
  ASSERT_TRUE(brief.ok()) << brief.error().text();
  EXPECT_EQ(*brief, "## The parent\n\nall that is known");
  LlmCall broken = asked(LlmRole::planner);
  for (const char* const text : {"", "{}", "[]", R"({"messages":[]})", R"({"messages":[{}]})"}) {
    broken.request = text;
    EXPECT_FALSE(client_brief(broken).ok()) << text;
  }
}

TEST(ClientChat, ASubmissionAnswersPlannerAndCoder) {
  const std::vector<LlmCall> kept = answered_calls(asked(LlmRole::planner), submission);
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_FALSE(waits_for_client(kept[0]));
  ClientChat chat(kept);
  const Chat::Tried plan = tried(chat, "7.planner.1");
  ASSERT_TRUE(plan.reply.answer.has_value());
  EXPECT_THAT(plan.reply.answer->text, HasSubstr(R"("plan":"blocks of 32")"));
  EXPECT_EQ(plan.reply.answer->model, "an agent 1");
  const Chat::Tried source = tried(chat, "7.coder.1");
  ASSERT_TRUE(source.reply.answer.has_value());
  EXPECT_EQ(source.reply.answer->text, "````\n" + submission.source + "````");
  EXPECT_FALSE(tried(chat, "8.planner.1").reply.answer.has_value());
}

TEST(ClientChat, ARepairIsOneAnswer) {
  const std::vector<LlmCall> kept = answered_calls(asked(LlmRole::fixer), submission);
  ASSERT_THAT(kept, SizeIs(1));
  ClientChat chat(kept);
  EXPECT_TRUE(tried(chat, "7.fixer.1").reply.answer.has_value());
}

TEST(ClientChat, NobodyIsAskedTwice) {
  ClientChat chat(answered_calls(asked(LlmRole::planner), submission));
  ChatRequest again = request();
  again.messages.emplace_back().text = "The code does not define kp_launch.";
  const Chat::Tried refused = tried(chat, "7.coder.2", again);
  ASSERT_TRUE(refused.failure.has_value());
  EXPECT_EQ(refused.failure->error.message, "The code does not define kp_launch.");
  EXPECT_FALSE(refused.failure->for_all);
}

}  // namespace
}  // namespace kernelpro
