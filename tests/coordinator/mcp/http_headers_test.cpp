#include "coordinator/mcp/http_headers.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "coordinator/mcp/remote.hpp"
#include "coordinator/mcp/rpc.hpp"

namespace kernelpro::mcp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

http::Request with_headers(const std::map<std::string, std::string>& headers) {
  http::Request request;
  request.headers = headers;
  return request;
}

json call_of(const std::string& tool) {
  return {
      {"jsonrpc", "2.0"},
      {"id", 1},
      {"method", "tools/call"},
      {"params",
       {{"name", tool}, {"_meta", {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}}}}}};
}

const std::map<std::string, std::string> right = {
    {"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}, {"mcp-name", "evaluate"}};

TEST(HttpHeadersTest, HeadersMustSayWhatTheMessageSays) {
  const json message = call_of("evaluate");
  EXPECT_EQ(header_complaint(with_headers(right), message), "");
  for (const auto& [name, unused] : right) {
    std::map<std::string, std::string> without = right;
    without.erase(name);
    EXPECT_NE(header_complaint(with_headers(without), message), "") << name;
    std::map<std::string, std::string> other = right;
    other[name] = "Other";
    EXPECT_NE(header_complaint(with_headers(other), message), "") << name;
  }
  std::map<std::string, std::string> encoded = right;
  encoded["mcp-name"] = "=?base64?ZXZhbHVhdGU=?=";
  EXPECT_EQ(header_complaint(with_headers(encoded), message), "");
}

TEST(HttpHeadersTest, TheRevisionIsThatOfMessageOrHeader) {
  const json old = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/list"}};
  EXPECT_TRUE(is_modern(with_headers({}), call_of("x")));
  EXPECT_TRUE(is_modern(with_headers({{"mcp-protocol-version", "2026-07-28"}}), old));
  EXPECT_FALSE(is_modern(with_headers({{"mcp-protocol-version", "2025-11-25"}}), old));
  EXPECT_FALSE(is_modern(with_headers({}), old));
}

TEST(HttpHeadersTest, ErrorsOfTheNewerRevisionHaveTheirStatus) {
  const auto failed = [](int code) { return error_message(1, code, "why", json()); };
  EXPECT_EQ(status_of(failed(method_not_found), true), 404);
  EXPECT_EQ(status_of(failed(invalid_params), true), 400);
  EXPECT_EQ(status_of(failed(unsupported_version), true), 400);
  EXPECT_EQ(status_of(failed(method_not_found), false), 200);
  EXPECT_EQ(status_of(result_message(1, json::object()), true), 200);
}

TEST(RemoteTest, ClientsElsewhereHaveNoFilesHere) {
  for (const json& fine : {json{{"task", "axpy"}, {"sources", {"naive", "int a;\nint b;\n"}}},
                           json{{"run", "axpy-1"}}}) {
    EXPECT_EQ(remote_complaint("evaluate", fine), "") << fine.dump();
  }
  for (const json& wrong :
       {json{{"task", "../axpy"}}, json{{"task", "/etc"}}, json{{"sources", {"/etc/passwd"}}},
        json{{"sources", {"a/b.cpp"}}}, json{{"source", "../b.cpp"}},
        json{{"incumbent", ".hidden"}}, json{{"run", "axpy-1"}, {"directory", "out"}}}) {
    EXPECT_NE(remote_complaint("evaluate", wrong), "") << wrong.dump();
  }
  EXPECT_THAT(remote_complaint("make_task", json::object()), HasSubstr("admin"));
}

}  // namespace
}  // namespace kernelpro::mcp
