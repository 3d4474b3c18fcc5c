// The official clients of both providers take the server of tests/support/llm_server for the real
// thing. They come from npm, into a folder of the build; where npm cannot get them, it is skipped.
#include <gmock/gmock.h>

#include <filesystem>

#include "common/base/file.hpp"
#include "common/base/process.hpp"

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

// Installs what package.json wants, unless it is there from an earlier run; otherwise why not.
std::string install() {
  const std::string wanted = text_of(sources / "package.json");
  if (text_of(folder / "installed.json") == wanted) {
    return "";
  }
  EXPECT_TRUE(make_directories(folder).ok());
  EXPECT_TRUE(write_file_atomic(folder / "package.json", wanted).ok());
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
  EXPECT_TRUE(write_file_atomic(folder / "installed.json", wanted).ok());
  return "";
}

TEST(LlmClientsTest, TheOfficialClientsTakeTheServerForTheirProviders) {
  for (const char* const program : {"node", "npm"}) {
    if (!find_program(program)) {
      GTEST_SKIP() << program << " is not in PATH";
    }
  }
  if (const std::string why = install(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  // Beside the packages, where node looks for them.
  ASSERT_TRUE(write_file_atomic(folder / "clients.mjs", text_of(sources / "clients.mjs")).ok());
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

}  // namespace
}  // namespace kernelpro
