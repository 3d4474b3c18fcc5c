// A session whose client is the test, and whose jobs are done when the test says so.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "coordinator/mcp/rpc.hpp"
#include "coordinator/mcp/session.hpp"

namespace kernelpro::mcp {

class SessionTest : public ::testing::Test {
 protected:
  using Json = nlohmann::json;

  void SetUp() override {
    ASSERT_TRUE(folder_.ok()) << folder_.error().text();
    begin(60'000);
  }

  // Anew, with that patience for work.
  void begin(std::int64_t patience_ms) {
    session_ =
        std::make_unique<Session>(SessionSettings{.store = folder_->path() / "store",
                                                  .launch =
                                                      [this](const std::filesystem::path& folder) {
                                                        jobs_.push_back(folder);
                                                        return Status();
                                                      },
                                                  .patience_ms = patience_ms},
                                  [this](const std::string& line) {
                                    EXPECT_EQ(line.find('\n'), std::string::npos);
                                    EXPECT_LE(line.size(), most_characters);
                                    sent_.push_back(Json::parse(line));
                                  });
  }

  void initialize() {
    const Json answer = ask("initialize", {{"protocolVersion", "2025-11-25"},
                                           {"capabilities", Json::object()},
                                           {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    EXPECT_EQ(answer["result"]["protocolVersion"], "2025-11-25");
    session_->take(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }

  // What every request of the newer revision carries.
  static Json meta(const Json& capabilities = Json::object()) {
    return {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
            {"io.modelcontextprotocol/clientCapabilities", capabilities},
            {"io.modelcontextprotocol/clientInfo", {{"name", "test"}, {"version", "2"}}}};
  }
  static Json with_tasks() {
    return meta({{"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}});
  }

  void send(const std::string& method, const Json& params) {
    session_->take(
        Json{{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", params}}
            .dump());
  }

  // The answer, which must be the one message that comes.
  Json ask(const std::string& method, const Json& params = Json::object()) {
    sent_.clear();
    send(method, params);
    EXPECT_EQ(sent_.size(), 1U) << method;
    return sent_.empty() ? Json() : sent_.back();
  }
  Json call(const std::string& tool, const Json& arguments, Json params = Json::object()) {
    params["name"] = tool;
    params["arguments"] = arguments;
    return ask("tools/call", params)["result"];
  }

  // What comes back for a line.
  Json told(const std::string& line) {
    sent_.clear();
    session_->take(line);
    return sent_.empty() ? Json() : sent_.back();
  }

  Result<ScratchDir> folder_ = ScratchDir::create("mcp-test");
  std::unique_ptr<Session> session_;
  std::vector<Json> sent_;
  std::vector<std::filesystem::path> jobs_;  // that were started
  int last_id_ = 0;
};

}  // namespace kernelpro::mcp
