// Models by name.
#include "coordinator/llm/provider.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "coordinator/llm/requests.hpp"
#include "support/environment.hpp"
#include "support/llm_server/api.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

class ProviderTest : public ::testing::Test {
 protected:
  ScopedVariable anthropic_{"ANTHROPIC_API_KEY", std::nullopt};
  ScopedVariable openai_{"OPENAI_API_KEY", std::nullopt};
};

TEST_F(ProviderTest, BothProvidersAreAskedByTheirNames) {
  const llm_server::HttpServer server(llm_server::api_handler("sk-from-a-file"));
  const Result<ScratchDir> scratch = ScratchDir::create("provider-test");
  const std::string key = (scratch->path() / "key").string();
  ASSERT_TRUE(write_file_unsynced(key, "sk-from-a-file\n").ok());
  for (const std::string provider : {"anthropic", "openai"}) {
    const Result<std::unique_ptr<Chat>> chat =
        make_http_chat(provider + ":some-model", server.url(), key, 60);
    ASSERT_TRUE(chat.ok()) << chat.error().text();
    EXPECT_EQ((*chat)->provider(), provider);
    const Chat::Tried tried = (*chat)->try_once("1.coder.1", small_request(), {}, {});
    ASSERT_TRUE(tried.reply.answer) << tried.failure->error.text();
    EXPECT_EQ(tried.reply.answer->text, "You said: Faster, please.");
  }
}

TEST_F(ProviderTest, AServerOnThisMachineNeedsNoKey) {
  const llm_server::HttpServer server(llm_server::api_handler(""));
  const Result<std::unique_ptr<Chat>> chat =
      make_http_chat("openai:some/model:7b", server.url() + "/v1/", "", 60);
  ASSERT_TRUE(chat.ok()) << chat.error().text();
  EXPECT_TRUE((*chat)->try_once("1.coder.1", small_request(), {}, {}).reply.answer);
  EXPECT_FALSE(server.seen()[0].headers.contains("authorization"));
}

TEST_F(ProviderTest, OtherNamesAreRefusedWithThoseThatAreKnown) {
  for (const std::string spec :
       {"", "anthropic", "anthropic:", ":model", "gemini:pro", "batch:x"}) {
    const Result<std::unique_ptr<Chat>> chat = make_http_chat(spec, "", "", 60);
    ASSERT_FALSE(chat.ok()) << spec;
    EXPECT_EQ(chat.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(chat.error().text(),
                HasSubstr("\"" + spec + "\"; expected anthropic:MODEL, openai:MODEL, batch:"));
  }
}

TEST_F(ProviderTest, WhatIsMissingShowsBeforeAnybodyIsAsked) {
  EXPECT_THAT(make_http_chat("anthropic:m", "", "", 60).error().text(),
              HasSubstr("set ANTHROPIC_API_KEY"));
  EXPECT_THAT(make_http_chat("openai:m", "", "", 60).error().text(),
              HasSubstr("set OPENAI_API_KEY"));
  EXPECT_THAT(make_http_chat("openai:m", "localhost:8000", "", 60).error().text(),
              HasSubstr("expected http://"));
  EXPECT_THAT(make_http_chat("openai:m", "", "/no/such/file", 60).error().text(),
              HasSubstr("/no/such/file"));
}

}  // namespace
}  // namespace kernelpro
