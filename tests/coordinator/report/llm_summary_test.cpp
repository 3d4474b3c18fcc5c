// What the calls of a run come to, in one line.
#include "coordinator/report/llm_summary.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

LlmCall call_of(CallState state, std::int64_t input, std::int64_t output) {
  LlmCall call;
  call.state = state;
  call.answered_by = state == CallState::answered ? "somebody" : "";
  call.usage.input = input;
  call.usage.output = output;
  call.cost = (input + 5 * output) * 1000;
  call.priced = true;
  return call;
}

TEST(LlmSummary, SaysWhoAnsweredAndWhatItCost) {
  EXPECT_EQ(llm_text(summarize_calls({call_of(CallState::answered, 1000, 200),
                                      call_of(CallState::answered, 3000, 400),
                                      call_of(CallState::waiting, 0, 0)})),
            "2 calls answered by somebody, 4000 tokens in, 600 out, $0.0070; 1 waiting");
}

TEST(LlmSummary, SaysWhatFailedCallsCostAndWhyTheLastFailed) {
  LlmCall failed = call_of(CallState::failed, 5000, 1000);
  failed.failure = "HTTP 502: bad gateway";
  EXPECT_EQ(llm_text(summarize_calls({failed})),
            "0 calls answered, 5000 tokens in, 1000 out, $0.0100; 1 failed, the last: HTTP 502: "
            "bad gateway");
}

TEST(LlmSummary, SaysNothingOfTokensWhereThereWereNone) {
  EXPECT_EQ(llm_text(summarize_calls({call_of(CallState::waiting, 0, 0)})),
            "0 calls answered; 1 waiting");
}

TEST(LlmSummary, DoesNotLetModelsSpeakToTheTerminal) {
  LlmCall answered = call_of(CallState::answered, 1, 1);
  answered.answered_by = "some\x1b[31mbody";
  LlmCall failed = call_of(CallState::failed, 0, 0);
  failed.failure = "HTTP 502: \x1b]0;x\x07";
  const std::string text = llm_text(summarize_calls({answered, failed}));
  EXPECT_THAT(text, ::testing::HasSubstr("by some?[31mbody, "));
  EXPECT_THAT(text, ::testing::HasSubstr("HTTP 502: ?]0;x?"));
  const std::string table = calls_table({answered, failed});
  EXPECT_THAT(table, ::testing::HasSubstr("some?[31mbody"));
  EXPECT_THAT(table, ::testing::HasSubstr("HTTP 502: ?]0;x?"));
}

}  // namespace
}  // namespace kernelpro
