// Tools of the user's own: real executables in the real jail.
#include "worker/session/user_tools.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "common/base/file.hpp"
#include "support/profiles.hpp"

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace kernelpro::testing;
namespace fs = std::filesystem;

class UserTools : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> made = ScratchDir::create("user_tools_test");
    ASSERT_TRUE(made) << made.error().text();
    folder_.emplace(std::move(*made));
    fs::permissions(folder_->path(), fs::perms::others_exec | fs::perms::others_read,
                    fs::perm_options::add);
    profile_ = sample_profile();
    report_.kernels.resize(1);
    report_.kernels.front().kernel = profile_.kernels.front().name;
    report_.kernels.front().kind = KernelClass::dram;
  }

  void add_tool(const std::string& name, const std::string& script) {
    ASSERT_TRUE(write_file_unsynced(folder_->path() / name, "#!/bin/sh\n" + script));
    fs::permissions(folder_->path() / name, fs::perms::all);
  }

  void run() {
    run_user_tools(folder_->path(), KERNELPRO_BIN_DIR "/kernelpro-jail", true, profile_, report_);
  }

  [[nodiscard]] const std::vector<std::string>& lacking() const {
    return report_.kernels.front().not_available;
  }

  std::optional<ScratchDir> folder_;
  Profile profile_;
  DiagnosisReport report_;
};

constexpr char finding[] =
    R"('{"v":1,"findings":[{"title":"Seen","observed":1,"threshold":0,"unit":"","why":"so",)"
    R"("cause":"c","moves":[],"predicted_gain":%s,"derivation":"d"}]}')";

TEST_F(UserTools, FindingsJoinTheOthersInOrderOfGain) {
  Finding own;
  own.tool = "built_in";
  own.predicted_gain = 1.5;
  report_.findings = {own};
  add_tool("small", "cat > /dev/null; printf " + std::string(finding) + " 1.2\n");
  add_tool("large", "cat > /dev/null; printf " + std::string(finding) + " 3\n");
  run();
  EXPECT_THAT(lacking(), IsEmpty());
  ASSERT_EQ(report_.findings.size(), 3U);
  EXPECT_EQ(report_.findings[0].tool, "large");
  EXPECT_EQ(report_.findings[1].tool, "built_in");
  EXPECT_EQ(report_.findings[2].tool, "small");
}

TEST_F(UserTools, GetTheProfileAndTheClassesToTheEndOfTheirInput) {
  add_tool("reader",
           "grep -q '\"dram\"' && printf '{\"v\":1,\"findings\":[],\"not_available\":"
           "[\"read it\"]}'\n");
  run();
  EXPECT_THAT(lacking(), Contains("reader: read it"));
}

TEST_F(UserTools, AFailureIsNamedAndTheOthersGoOn) {
  add_tool("crashes", "echo broken >&2; exit 3\n");
  add_tool("nonsense", "echo hello\n");
  add_tool("unknown_kernel",
           "printf '{\"v\":1,\"findings\":[{\"kernel\":\"no such\",\"title\":\"t\",\"observed\":1,"
           "\"threshold\":0,\"unit\":\"\",\"why\":\"\",\"cause\":\"\",\"moves\":[],"
           "\"predicted_gain\":2,\"derivation\":\"\"}]}'\n");
  add_tool("zgood", "printf " + std::string(finding) + " 2\n");
  run();
  EXPECT_THAT(lacking(), Contains(HasSubstr("crashes: it failed: broken")));
  EXPECT_THAT(lacking(), Contains(HasSubstr("nonsense: ")));
  EXPECT_THAT(lacking(), Contains(HasSubstr("unknown_kernel: ")));
  ASSERT_EQ(report_.findings.size(), 1U);
  EXPECT_EQ(report_.findings.front().tool, "zgood");
}

TEST_F(UserTools, CannotWriteFilesOrReadWhatIsNotTheirs) {
  ASSERT_TRUE(write_file_unsynced(folder_->path() / "secret", "42"));
  fs::permissions(folder_->path() / "secret", fs::perms::others_read, fs::perm_options::add);
  add_tool("nosy",
           "d=$(dirname \"$0\"); if cat $d/secret; then exit 0; fi; "
           "if echo x > $d/left; then exit 0; fi; exit 9\n");
  run();
  EXPECT_THAT(lacking(), Contains(HasSubstr("nosy: it failed")));
  EXPECT_FALSE(fs::exists(folder_->path() / "left"));
}

TEST_F(UserTools, FilesThatAreNotExecutableAreNoTools) {
  ASSERT_TRUE(write_file_unsynced(folder_->path() / "notes.txt", "hello"));
  run();
  EXPECT_THAT(lacking(), IsEmpty());
  EXPECT_THAT(report_.findings, IsEmpty());
}

TEST(UserToolsFolder, IsWhereTheVariableSays) {
  setenv("KERNELPRO_TOOLS", "/somewhere", 1);
  EXPECT_EQ(user_tools_folder(), "/somewhere");
  unsetenv("KERNELPRO_TOOLS");
}

}  // namespace
}  // namespace kernelpro
