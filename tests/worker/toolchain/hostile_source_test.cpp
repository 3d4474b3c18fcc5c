#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "common/base/deadline.hpp"
#include "worker/toolchain/fixture.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Sources that want what is not theirs. The secret is readable for every user of the machine, so
// that only the jail keeps it.
class HostileSource : public ToolchainTest {
 protected:
  void SetUp() override {
    ToolchainTest::SetUp();
    secret_ = scratch() / "secret.h";
    std::ofstream(secret_) << "marker_of_the_secret\n";
    fs::permissions(secret_, fs::perms(0644));
  }

  void expect_private_file(const std::string& extra, const std::string& compiler,
                           const Toolchain& toolchain) {
    SCOPED_TRACE(compiler + ": " + extra);
    const BuildOutcome outcome = build(toolchain, {source_with(extra), compiler, {}, {}, {}});
    EXPECT_FALSE(outcome.ok);
    EXPECT_EQ(outcome.rule, "private_file") << outcome.diagnostics;
    EXPECT_THAT(outcome.diagnostics, Not(HasSubstr("marker_of_the_secret")));
  }

  [[nodiscard]] std::string quoted_secret() const { return "\"" + secret_.string() + "\""; }

 private:
  fs::path secret_;
};

TEST_F(HostileSource, CannotIncludeOrEmbedAnotherFile) {
  const Toolchain toolchain = open(probed_settings());
  for (const Compiler& compiler : toolchain.compilers()) {
    expect_private_file("#include \"/etc/passwd\"", compiler.name, toolchain);
    expect_private_file("#include " + quoted_secret(), compiler.name, toolchain);
    expect_private_file("#include \"../../../../../etc/passwd\"", compiler.name, toolchain);
    expect_private_file("#if __has_include(" + quoted_secret() + ")\n#endif", compiler.name,
                        toolchain);
    expect_private_file("asm(\".incbin \\\"/etc/passwd\\\"\");", compiler.name, toolchain);
    expect_private_file("asm(\".include \\\"/etc/passwd\\\"\");", compiler.name, toolchain);
    expect_private_file("#include \"/proc/self/environ\"", compiler.name, toolchain);
  }
}

TEST_F(HostileSource, CannotEmbedAnotherFileWithClang) {
  const Toolchain toolchain = open(probed_settings());
  if (!toolchain.find("clang++-19").ok()) {
    GTEST_SKIP() << "clang++-19 is not installed, and g++-12 knows no #embed";
  }
  expect_private_file("char x[] = {\n#embed " + quoted_secret() + "\n};", "clang++-19", toolchain);
}

TEST_F(HostileSource, CannotReadTheDataOfTheTasks) {
  const Toolchain toolchain = open(probed_settings());
  const std::string data = std::string(KERNELPRO_SOURCE_DIR) + "/CMakeLists.txt";
  expect_private_file("#include \"" + data + "\"", "", toolchain);
}

TEST_F(HostileSource, OptionsThatReachOutAreTheCandidatesFailure) {
  const Toolchain toolchain = open(probed_settings());
  for (const char* option : {"-fplugin=./x.so", "@/etc/passwd", "-specs=x", "-I/etc"}) {
    const BuildOutcome outcome = build(toolchain, {doubling_source, "", {option}, {}, {}});
    EXPECT_FALSE(outcome.ok);
    EXPECT_EQ(outcome.rule, "build_option");
    EXPECT_THAT(outcome.diagnostics, HasSubstr(option));
  }
}

TEST_F(HostileSource, BuildThatDoesNotEndIsStopped) {
  ToolchainSettings settings = probed_settings();
  settings.build_timeout_ms = 1500;
  const Toolchain toolchain = open(settings);
  const std::string endless = source_with(R"(
template <long Depth, long Path>
struct Tree { static constexpr long size = Tree<Depth - 1, 2 * Path>::size + Tree<Depth - 1, 2 * Path + 1>::size; };
template <long Path>
struct Tree<0, Path> { static constexpr long size = 1; };
long size = Tree<40, 1>::size;
)");
  const BuildOutcome outcome = build(toolchain, {endless, "", {}, {}, {}});
  EXPECT_FALSE(outcome.ok);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_THAT(outcome.diagnostics, HasSubstr("stopped after 1500 ms"));
}

TEST_F(HostileSource, MacroThatFillsTheDiskIsStopped) {
  const Toolchain toolchain = open(probed_settings());
  std::string bomb = "#define M0 \"" + std::string(4000, 'x') + "\"\n";
  for (int i = 1; i < 16; ++i) {
    const std::string before = "M" + std::to_string(i - 1);
    bomb += "#define M" + std::to_string(i) + " " + before + " " + before + "\n";
  }
  const BuildOutcome outcome =
      build(toolchain, {source_with(bomb + "const char* x = M15;"), "", {}, {}, {}});
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.diagnostics, ContainsRegex("[Ff]ile (too large|size limit)"));
}

std::string table_of(std::int64_t bytes) {
  return source_with("asm(\".pushsection .data.table,\\\"aw\\\"\\n.zero " + std::to_string(bytes) +
                     "\\n.popsection\");");
}

TEST_F(HostileSource, BinaryThatWouldFillTheCacheIsRefused) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome outcome = build(toolchain, {table_of(80 << 20), "g++", {}, {}, {}});
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.rule, "");
  EXPECT_THAT(outcome.diagnostics, ContainsRegex("candidate.so would have 8[0-9]+ bytes; at most "
                                                 "67108864 are accepted"));
  EXPECT_TRUE(build(toolchain, {table_of(8 << 20), "g++", {}, {}, {}}).ok);
}

TEST_F(HostileSource, BinaryThatWouldFillTheDiskIsStopped) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome outcome = build(toolchain, {table_of(600 << 20), "g++", {}, {}, {}});
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.diagnostics, ContainsRegex("[Ff]ile (too large|size limit)"));
}

// The processes whose parent, or parent's parent …, is this one.
std::vector<pid_t> descendants() {
  std::vector<pid_t> all = {getpid()};
  for (std::size_t at = 0; at < all.size(); ++at) {
    const fs::path tasks = "/proc/" + std::to_string(all[at]) + "/task";
    std::error_code gone;
    for (const auto& task : fs::directory_iterator(tasks, gone)) {
      std::ifstream children(task.path() / "children");
      for (pid_t child = 0; children >> child;) {
        all.push_back(child);
      }
    }
  }
  all.erase(all.begin());
  return all;
}

TEST_F(HostileSource, NothingOfAStoppedCompilerIsLeft) {
  ToolchainSettings settings = probed_settings();
  settings.build_timeout_ms = 1500;
  const Toolchain toolchain = open(settings);
  const std::string endless = source_with(R"(
template <long D, long P> struct Tree { static constexpr long n = Tree<D - 1, 2 * P>::n + Tree<D - 1, 2 * P + 1>::n; };
template <long P> struct Tree<0, P> { static constexpr long n = 1; };
long n = Tree<40, 1>::n;
)");
  std::jthread building(
      [&] { EXPECT_TRUE(build(toolchain, {endless, "g++", {}, {}, {}}).timed_out); });
  // The guardian, the driver and the compiler proper.
  std::vector<pid_t> seen;
  const Deadline deadline(30'000);
  while (seen.size() < 3 && !deadline.passed()) {
    seen = descendants();
  }
  building.join();
  EXPECT_THAT(descendants(), IsEmpty());
  EXPECT_GE(seen.size(), 3U);
  for (const pid_t process : seen) {
    EXPECT_FALSE(fs::exists("/proc/" + std::to_string(process))) << process;
  }
}

TEST_F(HostileSource, CompilerStartedByRootIsAnOrdinaryUser) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can tell: this test does not run as root";
  }
  // Without landlock, file permissions are all that is left, and they hold for nobody.
  ToolchainSettings settings = probed_settings();
  settings.landlock = false;
  expect_private_file("#include \"/etc/shadow\"", "", open(settings));
}

}  // namespace
}  // namespace kernelpro
