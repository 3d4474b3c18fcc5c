#include "coordinator/mcp/session.hpp"

#include "coordinator/app/code.hpp"
#include "coordinator/mcp/session_fixture.hpp"
#include "worker/profile/mutate.hpp"

namespace kernelpro::mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(SessionTest, MalformedMessagesAreRefusedAndTheSessionGoesOn) {
  EXPECT_EQ(told("{")["error"]["code"], parse_error);
  EXPECT_EQ(told("[]")["error"]["code"], invalid_request);
  EXPECT_EQ(told(R"({"id":1,"method":"ping"})")["error"]["code"], invalid_request);
  EXPECT_EQ(told(R"({"jsonrpc":"2.0","id":null,"method":"ping"})")["error"]["code"],
            invalid_request);
  EXPECT_EQ(told(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})")["error"]["code"],
            invalid_request);
  EXPECT_EQ(told(R"({"jsonrpc":"2.0","id":1,"method":2})")["error"]["code"], invalid_request);
  EXPECT_EQ(told(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})")["error"]["code"],
            invalid_request);
  EXPECT_EQ(told(std::string(1000, '['))["error"]["code"], parse_error);
  EXPECT_TRUE(told(R"({"jsonrpc":"2.0","method":"no_such_notification"})").is_null());
  EXPECT_TRUE(told(R"({"jsonrpc":"2.0","id":1,"result":{}})").is_null());
  session_->refuse_long_line();
  EXPECT_EQ(sent_.back()["error"]["message"], "the message is too long");
  EXPECT_EQ(ask("ping")["result"], Json::object());
}

TEST_F(SessionTest, TheOlderRevisionBeginsWithInitialize) {
  EXPECT_EQ(ask("tools/list")["error"]["code"], invalid_params);
  initialize();
  const Json tools = ask("tools/list")["result"];
  EXPECT_THAT(tools["tools"], SizeIs(11));
  EXPECT_FALSE(tools.contains("resultType"));
  EXPECT_EQ(ask("no/such")["error"]["code"], method_not_found);
  EXPECT_EQ(ask("server/discover")["error"]["code"], method_not_found);
}

TEST_F(SessionTest, TheNewerRevisionNeedsNoBeginning) {
  const Json found = ask("server/discover", {{"_meta", meta()}})["result"];
  EXPECT_EQ(found["supportedVersions"], Json({"2026-07-28", "2025-11-25"}));
  EXPECT_EQ(found["resultType"], "complete");
  EXPECT_TRUE(found["capabilities"]["extensions"].contains("io.modelcontextprotocol/tasks"));
  EXPECT_EQ(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "kernelpro");
  const Json tools = ask("tools/list", {{"_meta", meta()}})["result"];
  EXPECT_TRUE(tools.contains("ttlMs"));
  EXPECT_FALSE(tools["tools"][1].contains("execution"));
  EXPECT_EQ(ask("ping", {{"_meta", meta()}})["error"]["code"], method_not_found);
  Json other = meta();
  other["io.modelcontextprotocol/protocolVersion"] = "1900-01-01";
  const Json refused = ask("tools/list", {{"_meta", other}})["error"];
  EXPECT_EQ(refused["code"], unsupported_version);
  EXPECT_EQ(refused["data"]["requested"], "1900-01-01");
}

TEST_F(SessionTest, UnknownToolsAndWrongArgumentsAreRefused) {
  initialize();
  EXPECT_EQ(ask("tools/call", {{"name", "rm"}})["error"]["code"], invalid_params);
  EXPECT_EQ(ask("tools/call", {{"name", 3}})["error"]["code"], invalid_params);
  EXPECT_EQ(ask("tools/call", {{"name", "ceilings"}})["error"]["code"], invalid_params);
  const Json wrong = call("evaluate", {{"task", "axpy"}});
  EXPECT_EQ(wrong["isError"], true);
  EXPECT_EQ(wrong["content"][0]["text"], "arguments: sources is missing");
  EXPECT_TRUE(jobs_.empty());
}

TEST_F(SessionTest, TasksAreListedAndFound) {
  initialize();
  const Json all = call("list_tasks", Json::object())["structuredContent"]["tasks"];
  EXPECT_GT(all.size(), 10U);
  const Json some = call("list_tasks", {{"query", "AXPY"}})["structuredContent"]["tasks"];
  ASSERT_THAT(some, SizeIs(1));
  EXPECT_EQ(some[0]["shapes"]["cpu"], Json({"n=1200007"}));
}

TEST_F(SessionTest, CodeIsFoundAndRead) {
  initialize();
  EXPECT_THAT(call("code_search", {{"words", "ring"}})["content"][0]["text"].get<std::string>(),
              HasSubstr("kernelpro code index"));
  const ScratchDir library = *ScratchDir::create("library");
  ASSERT_TRUE(write_file_unsynced(library.path() / "ring.hpp",
                                  "// A ring of stages.\nstruct RingOfStages {\n"
                                  "  int stages = 4;\n};\n"));
  CodeIndexRequest request;
  request.store = folder_->path() / "store";
  request.folders = {library.path()};
  ASSERT_TRUE(index_code(request, {}, {}));
  const Json hits = call("code_search", {{"words", "ring of stages"}})["structuredContent"]["hits"];
  ASSERT_THAT(hits, SizeIs(1));
  const std::string file = hits[0]["file"];
  EXPECT_THAT(file, HasSubstr("ring.hpp"));
  EXPECT_EQ(call("code_search", {{"file", file + ":3-3"}})["structuredContent"]["text"],
            "  int stages = 4;\n");
  EXPECT_EQ(call("code_search", {{"file", "../../etc/passwd"}})["isError"], true);
  EXPECT_EQ(call("code_search", {{"words", "a"}, {"symbol", "b"}})["isError"], true);
}

TEST_F(SessionTest, NamesDoNotLeadOutOfTheirFolders) {
  initialize();
  for (const char* const name : {"../../etc/passwd", "..", "a/b", ".hidden", ""}) {
    EXPECT_EQ(call("show", {{"run", name}})["isError"], true) << name;
    EXPECT_EQ(call("job", {{"id", name}})["isError"], true) << name;
    const std::string uri = std::string("kernelpro://task/") + name;
    EXPECT_EQ(ask("resources/read", {{"uri", uri}})["error"]["code"], -32002) << name;
    EXPECT_EQ(ask("resources/read", {{"uri", uri}, {"_meta", meta()}})["error"]["code"],
              invalid_params)
        << name;
  }
  EXPECT_EQ(ask("tasks/get", {{"taskId", "../../x"}})["error"]["code"], invalid_params);
}

TEST_F(SessionTest, ResourcesAndPromptsAreRead) {
  initialize();
  const Json resources = ask("resources/list")["result"]["resources"];
  for (const Json& one : resources) {
    const std::string uri = one["uri"];
    if (uri.find("/ceilings/") != std::string::npos) {
      continue;  // these are measured
    }
    const Json read = ask("resources/read", {{"uri", uri}});
    ASSERT_TRUE(read.contains("result")) << uri << read.dump();
    EXPECT_GT(read["result"]["contents"][0]["text"].get<std::string>().size(), 100U) << uri;
  }
  EXPECT_THAT(ask("resources/templates/list")["result"]["resourceTemplates"], SizeIs(3));
  EXPECT_THAT(ask("resources/read", {{"uri", "kernelpro://move/cpu/simd"}}).dump(),
              HasSubstr("vectorized"));
  const Json prompts = ask("prompts/list")["result"]["prompts"];
  for (const Json& one : prompts) {
    Json arguments;
    for (const Json& argument : one["arguments"]) {
      arguments[argument["name"].get<std::string>()] = "the given one";
    }
    const Json got = ask("prompts/get", {{"name", one["name"]}, {"arguments", arguments}});
    const std::string text = got["result"]["messages"][0]["content"]["text"];
    EXPECT_THAT(text, HasSubstr("the given one"));
    EXPECT_EQ(text.find("{{"), std::string::npos);
    EXPECT_EQ(ask("prompts/get", {{"name", one["name"]}})["error"]["code"], invalid_params);
  }
}

TEST_F(SessionTest, ArgumentsAreCompletedWhileTheyAreTyped) {
  initialize();
  const auto completed = [this](const Json& ref, const Json& argument,
                                const Json& known = Json::object()) {
    return ask("completion/complete",
               {{"ref", ref},
                {"argument", argument},
                {"context", {{"arguments", known}}}})["result"]["completion"];
  };
  const Json prompt = {{"type", "ref/prompt"}, {"name", "why_slow"}};
  EXPECT_EQ(completed(prompt, {{"name", "task"}, {"value", "softm"}}),
            Json({{"values", {"softmax"}}, {"total", 1}, {"hasMore", false}}));
  EXPECT_EQ(completed(prompt, {{"name", "source"}, {"value", ""}}, {{"task", "axpy"}})["values"][0],
            "naive");
  const Json move = {{"type", "ref/resource"}, {"uri", "kernelpro://move/{backend}/{id}"}};
  EXPECT_EQ(completed(move, {{"name", "backend"}, {"value", "cu"}})["values"], Json({"cuda"}));
  EXPECT_THAT(
      completed(move, {{"name", "id"}, {"value", "warp"}}, {{"backend", "cuda"}})["values"].dump(),
      HasSubstr("warp_specialize"));
  EXPECT_EQ(completed(prompt, {{"name", "nonsense"}, {"value", ""}})["total"], 0);
  for (const Json& wrong :
       {Json{{"ref", {{"type", "ref/prompt"}, {"name", "none"}}}, {"argument", {{"name", "task"}}}},
        Json{{"ref", prompt}}, Json{{"ref", 3}, {"argument", Json::array()}}}) {
    EXPECT_EQ(ask("completion/complete", wrong)["error"]["code"], invalid_params) << wrong;
  }
}

TEST_F(SessionTest, DamagedMessagesNeverEndTheSession) {
  const std::vector<std::string> whole = {
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"a","version":"1"},"capabilities":{}}})",
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"job","arguments":{"id":"00000000000000aa","wait":0,"cancel":true}}})",
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"show","arguments":{"run":"axpy-1","node":3,"part":"diff","offset":5}}})",
      R"({"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"repair","arguments":{"run":"a","node":"1"}}})",
      R"({"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"kernelpro://node/axpy-1/3","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{}}}}})",
      R"({"jsonrpc":"2.0","id":8,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"repair"},"argument":{"name":"node","value":"1"},"context":{"arguments":{"run":"axpy-1"}}}})",
      R"({"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"info"}})",
      R"({"jsonrpc":"2.0","id":6,"method":"tasks/get","params":{"taskId":"00000000000000aa"}})",
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}})"};
  Random random(20261118);
  for (int round = 0; round < 3000; ++round) {
    session_->take(mutate(whole[random.below(whole.size())], random));
    session_->tick();
    sent_.clear();
  }
  EXPECT_EQ(ask("ping")["result"], Json::object());
}

}  // namespace
}  // namespace kernelpro::mcp
