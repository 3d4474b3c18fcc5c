#include "coordinator/mcp/rpc.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace kernelpro::mcp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Le;

TEST(McpRpc, AnAnswerIsBoundedAndSaysSo) {
  const json result = tool_result({{"brief", std::string(100'000, '"')}, {"node", 7}});
  EXPECT_THAT(line_of(result).size(), Le(most_characters));
  EXPECT_EQ(result["structuredContent"]["node"], 7);
  EXPECT_THAT(result["structuredContent"]["brief"].get<std::string>(), HasSubstr("[cut"));
  EXPECT_EQ(json::parse(result["content"][0]["text"].get<std::string>()),
            result["structuredContent"]);
}

TEST(McpRpc, ALongListLosesItsEnd) {
  json list = json::array();
  for (int i = 0; i < 5000; ++i) {
    list.push_back({{"node", i}, {"fate", "it passed and is as fast as the baseline"}});
  }
  const json result = tool_result({{"nodes", list}});
  EXPECT_THAT(line_of(result).size(), Le(most_characters));
  EXPECT_EQ(result["structuredContent"]["nodes"][0]["node"], 0);
}

TEST(McpRpc, WhatIsNoUtf8IsReplaced) {
  EXPECT_THAT(line_of(failed_tool_result("a\xff"
                                         "b")),
              HasSubstr("a\xef\xbf\xbd"
                        "b"));
}

}  // namespace
}  // namespace kernelpro::mcp
