#include "coordinator/app/schema_check.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "coordinator/mcp/tools.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string complaint(const char* tool, const json& arguments) {
  const Result<json> definition = mcp::tool_definition(tool);
  EXPECT_TRUE(definition.ok()) << definition.error().text();
  return schema_complaint((*definition)["inputSchema"], arguments);
}

TEST(McpSchemaCheck, WhatFitsPasses) {
  EXPECT_EQ(complaint("list_tasks", json::object()), "");
  EXPECT_EQ(complaint("evaluate", {{"task", "gemm"}, {"sources", {"a.cpp"}}, {"mode", "check"}}),
            "");
  EXPECT_EQ(complaint("make_task", {{"file", "a"}, {"entry", "f"}, {"sizes", {{"n", 5}}}}), "");
}

TEST(McpSchemaCheck, WhatDoesNotFitIsNamedWithItsPlace) {
  EXPECT_EQ(complaint("evaluate", {{"task", "gemm"}}), "arguments: sources is missing");
  EXPECT_EQ(complaint("evaluate", {{"task", "gemm"}, {"sources", "a.cpp"}}),
            "/sources: expected an array, found string");
  EXPECT_EQ(complaint("evaluate", {{"task", "gemm"}, {"sources", json::array()}}),
            "/sources: expected at least 1 entries, found 0");
  EXPECT_EQ(complaint("evaluate", {{"task", "gemm"}, {"sources", {1}}}),
            "/sources/0: expected a string, found number");
  EXPECT_THAT(complaint("evaluate", {{"task", "gemm"}, {"sources", {"a"}}, {"mode", "fast"}}),
              HasSubstr("/mode: expected one of [\"timed\",\"check\"]"));
  EXPECT_THAT(complaint("job", {{"id", "a"}, {"wiat", 3}}),
              HasSubstr("there is no \"wiat\"; known are cancel, id, wait"));
  EXPECT_EQ(complaint("job", {{"id", "a"}, {"wait", 46}}), "/wait: expected at most 45, found 46");
  EXPECT_EQ(complaint("make_task", {{"file", "a"}, {"entry", "f"}, {"sizes", {{"n", 0}}}}),
            "/sizes/n: expected at least 1, found 0");
  EXPECT_EQ(complaint("show", json::array()), "arguments: expected an object, found array");
}

}  // namespace
}  // namespace kernelpro
