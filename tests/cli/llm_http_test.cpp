// A run whose models are asked over HTTP, with the real program and a server on loopback.
#include <atomic>

#include "cli/batch.hpp"
#include "support/llm_server/behaviors.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* api_key = "sk-test-0123456789abcdef";

class LlmOverHttp : public BatchCli {
 protected:
  LlmOverHttp() { set("OPENAI_API_KEY", api_key); }

  [[nodiscard]] Finished optimize(const llm_server::HttpServer& server, Words more) const {
    Words words = {"optimize", data("wave"), "--timing",    "0.02",       "--accept-suspect", "-n",
                   "2",        "--llm",      "openai:tiny", "--base-url", server.url()};
    words.insert(words.end(), more.begin(), more.end());
    return kernelpro(words);
  }

  static std::string completion(const std::string& text) {
    const Json message = {{"role", "assistant"}, {"content", text}};
    const Json choice = {{"index", 0}, {"message", message}, {"finish_reason", "stop"}};
    return Json({{"model", "tiny-1"},
                 {"choices", Json::array({choice})},
                 {"usage", {{"prompt_tokens", 900}, {"completion_tokens", 80}}}})
        .dump();
  }

  // A planner's answer to a planner, a coder's to the others.
  static std::string text_for(const std::string& request, int number) {
    if (request.find("somebody else writes the code") != std::string::npos ||
        request.find("Somebody else writes the code") != std::string::npos) {
      return R"({"move": "optimize", "plan": "optimize it", "predicted_gain": 4, "why": "-O0"})";
    }
    return "```cpp\n// kp:options -O2\n" + content_of(data("wave") + "/baseline.cpp") +
           "extern \"C\" int kp_tag_" + std::to_string(number) + "() { return 1; }\n```\n";
  }
};

TEST_F(LlmOverHttp, AModelBehindABaseUrlWritesTheCandidates) {
  std::atomic<int> asked = 0;
  llm_server::HttpServer server([&](const llm_server::Seen& seen, llm_server::Wire& wire) {
    const int number = ++asked;
    // The second call is to be made again.
    if (number == 2) {
      wire.answer(429, "application/json", R"({"error":{"message":"slow down"}})",
                  {"Retry-After: 1"});
      return;
    }
    wire.answer(200, "application/json", completion(text_for(seen.body, number)), {});
  });
  const Finished finished = optimize(server, {"--price", "1/2", "--llm-dollars", "1"});
  expect_exit(finished, 0);
  const Json report = json({"report", "wave-1"}, "cli_report.json", 0);
  EXPECT_EQ(report["evaluations"], 2);
  EXPECT_EQ(report["llm"]["answered"], 4);
  EXPECT_EQ(report["llm"]["answered_by"]["tiny-1"], 4);
  EXPECT_EQ(report["llm"]["cost_billionths"], 4 * (900 * 1000 + 80 * 2000));
  const Finished transcript = kernelpro({"transcript", "wave-1"});
  EXPECT_THAT(transcript.output, AllOf(HasSubstr("tiny-1"), Not(HasSubstr(api_key))));
}

TEST_F(LlmOverHttp, AWrongKeyStopsTheRunWhichGoesOnWhenItIsMended) {
  std::atomic<bool> known = false;
  std::atomic<int> asked = 0;
  llm_server::HttpServer server([&](const llm_server::Seen& seen, llm_server::Wire& wire) {
    if (!known) {
      wire.answer(401, "application/json",
                  std::string(R"({"error":{"message":"no such key: )") + api_key + "\"}}", {});
      return;
    }
    wire.answer(200, "application/json", completion(text_for(seen.body, ++asked)), {});
  });
  const Finished refused = optimize(server, {});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.exit_code, 4);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("key"), Not(HasSubstr(api_key))));
  known = true;
  EXPECT_EQ(ended_run({"resume", "wave-1"})["evaluations"], 2);
}

}  // namespace
}  // namespace kernelpro
