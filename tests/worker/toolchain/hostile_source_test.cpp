#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "worker/toolchain/fixture.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
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
