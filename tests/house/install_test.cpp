// The build under test, installed into a prefix of its own: programs find their data from there.
#include <gmock/gmock.h>
#include <unistd.h>

#include "common/base/file.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class InstallTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_.ok()) << scratch_.error().text();
    Command install;
    install.arguments = {KERNELPRO_CMAKE, "--install", KERNELPRO_BUILD_DIR, "--prefix",
                         prefix().string()};
    const Result<Finished> done = run_command(install);
    ASSERT_TRUE(done.ok()) << done.error().text();
    ASSERT_TRUE(done->succeeded()) << done->output << done->errors;
  }

  [[nodiscard]] fs::path prefix() const { return scratch_->path() / "prefix"; }

  // An installed program, run from elsewhere and without a variable that could help it.
  [[nodiscard]] Command installed(const std::string& program) const {
    Command command;
    command.arguments = {(prefix() / "bin" / program).string()};
    command.directory = "/";
    command.environment = {{"HOME", scratch_->path().string()}};
    return command;
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("install-test");
};

TEST_F(InstallTest, BringsEveryProgram) {
  for (const std::string name : {"kernelpro", "kernelpro-worker", "kernelpro-jail",
                                 "kernelpro-runner", "kernelpro-oracle", "libkernelpro_trace.so"}) {
    EXPECT_EQ(::access((prefix() / "bin" / name).c_str(), X_OK), 0) << name;
  }
}

TEST_F(InstallTest, BringsTheDataAndThePublicHeader) {
  const fs::path share = prefix() / "share" / "kernelpro";
  for (const fs::path& file :
       {share / "tasks" / "axpy" / "task.toml", share / "schemas" / "verdict.json",
        share / "ceilings" / "cpu.cpp", share / "include" / "kernelpro" / "candidate.h",
        prefix() / "include" / "kernelpro" / "candidate.h"}) {
    EXPECT_TRUE(fs::is_regular_file(file)) << file;
  }
}

TEST_F(InstallTest, TheCommandLineFindsTheInstalledTasks) {
  Command list = installed("kernelpro");
  list.arguments.insert(list.arguments.end(), {"task", "list"});
  const Result<Finished> done = run_command(list);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_TRUE(done->succeeded()) << done->errors;
  EXPECT_THAT(done->output, HasSubstr("axpy"));
}

TEST_F(InstallTest, TheWorkerAnswersFromItsNewPlace) {
  Result<ChildProcess> worker = ChildProcess::start(installed("kernelpro-worker"));
  ASSERT_TRUE(worker.ok()) << worker.error().text();
  ASSERT_TRUE(worker->write_line(R"({"v":1,"id":1,"op":"describe"})").ok());
  std::string reply;
  while (reply.find("\"ok\":") == std::string::npos) {
    const Result<std::string> line = worker->read_line(60'000);
    ASSERT_TRUE(line.ok()) << line.error().text();
    reply = *line;
  }
  EXPECT_THAT(reply, HasSubstr("\"ok\":true"));
}

Finished run(const std::vector<std::string>& words, const std::string& directory = "/") {
  Command command;
  command.arguments = words;
  command.directory = directory;
  command.inherit_environment = true;
  const Result<Finished> done = run_command(command);
  EXPECT_TRUE(done.ok()) << done.error().text();
  return done.ok() ? *done : Finished{};
}

// What cpack makes of the build, unpacked without installing it.
TEST(Package, NamesWhatItNeedsBringsItsPagesAndJudgesFromWhereItIsUnpacked) {
  const Result<ScratchDir> scratch = ScratchDir::create("package-test");
  ASSERT_TRUE(scratch.ok()) << scratch.error().text();
  const Finished made = run({fs::path(KERNELPRO_CMAKE).replace_filename("cpack").string(), "-G",
                             "DEB", "--config", KERNELPRO_BUILD_DIR "/CPackConfig.cmake", "-B",
                             scratch->path().string(), "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"});
  ASSERT_TRUE(made.succeeded()) << made.output << made.errors;
  std::string package;
  for (const auto& entry : fs::directory_iterator(scratch->path())) {
    package = entry.path().extension() == ".deb" ? entry.path().string() : package;
  }
  EXPECT_THAT(run({"dpkg-deb", "--field", package, "Depends"}).output,
              ::testing::AllOf(HasSubstr("g++"), HasSubstr("clang-19"), HasSubstr("libsqlite3-0")));

  const fs::path root = scratch->path() / "root";
  ASSERT_TRUE(run({"dpkg-deb", "--extract", package, root.string()}).succeeded());
  for (const char* const page : {"kernelpro.1", "kernelpro-optimize.1"}) {
    EXPECT_TRUE(fs::exists(root / "usr/share/man/man1" / page)) << page;
  }
  const std::string program = (root / "usr/bin/kernelpro").string();
  const Finished judged = run({program, "evaluate", "axpy", "naive", "--no-timing", "--json"},
                              scratch->path().string());
  EXPECT_TRUE(judged.succeeded()) << judged.errors;
  EXPECT_THAT(judged.output, HasSubstr("\"outcome\":\"passed\""));
}

}  // namespace
}  // namespace kernelpro
