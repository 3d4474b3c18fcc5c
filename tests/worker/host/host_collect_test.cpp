// Real programs, sampled and read: healthy ones, and those that make it hard.
#include "worker/host/host_collect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "common/base/file.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr char busy[] = R"(
#include <cstdlib>
#include <ctime>
#include <vector>
extern "C" __attribute__((noinline)) float busy_sum(const float* x, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  return s;
}
static float sink;
static void work_for(double seconds) {
  std::vector<float> x(4096, 1.0f);
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  while (std::clock() < end) for (int i = 0; i < 100; ++i) sink += busy_sum(x.data(), 4096);
}
)";

class HostCollect : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("g++") || !find_program("objdump")) {
      GTEST_SKIP() << "needs g++ and objdump";
    }
    tools_ = find_host_tools(KERNELPRO_BIN_DIR);
    ASSERT_FALSE(tools_.sample_library.empty());
  }

  std::string built(const std::string& source, const std::string& name,
                    const std::vector<std::string>& options = {"-O2", "-g"}) {
    const fs::path file = folder_.path() / (name + ".cpp");
    EXPECT_TRUE(write_file_unsynced(file, source));
    const std::string program = (folder_.path() / name).string();
    Command command;
    command.arguments = {"g++", file.string(), "-o", program, "-ldl"};
    command.arguments.insert(command.arguments.end(), options.begin(), options.end());
    const Result<Finished> finished = run_command(command);
    EXPECT_TRUE(finished && finished->succeeded()) << finished->errors;
    return program;
  }

  Result<Collected> collect(const std::vector<std::string>& arguments,
                            std::int64_t timeout_ms = 60'000) {
    ProfiledProgram program;
    program.arguments = arguments;
    program.timeout_ms = timeout_ms;
    HostSettings settings;
    settings.tools = tools_;
    settings.folder = samples_.path();
    return collect_host_profile(program, settings);
  }

  ScratchDir folder_ = *ScratchDir::create("programs");
  ScratchDir samples_ = *ScratchDir::create("samples");
  HostTools tools_;
};

const KernelProfile* kernel_named(const Profile& profile, const std::string& name) {
  const auto found = std::find_if(profile.kernels.begin(), profile.kernels.end(),
                                  [&name](const KernelProfile& one) { return one.name == name; });
  return found == profile.kernels.end() ? nullptr : &*found;
}

TEST_F(HostCollect, TheHotLoopIsFoundWithItsLine) {
  const Result<Collected> seen =
      collect({built(std::string(busy) + "int main() { work_for(0.3); }", "plain")});
  ASSERT_TRUE(seen) << seen.error().text();
  const KernelProfile* kernel = kernel_named(seen->profile, "busy_sum");
  ASSERT_NE(kernel, nullptr);
  EXPECT_GT(kernel->share, 0.5);
  ASSERT_FALSE(kernel->loops.empty());
  EXPECT_TRUE(kernel->loops.front().reduction);
  EXPECT_EQ(kernel->loops.front().scalar, 1);
  EXPECT_EQ(fs::path(kernel->loops.front().place.file).filename(), "plain.cpp");
}

TEST_F(HostCollect, WithoutSymbolsALoopIsStillALoop) {
  const Result<Collected> seen = collect(
      {built(std::string(busy) + "int main() { work_for(0.3); }", "stripped", {"-O2", "-s"})});
  ASSERT_TRUE(seen) << seen.error().text();
  ASSERT_FALSE(seen->profile.kernels.empty());
  const std::vector<HostLoop>& loops = seen->profile.kernels.front().loops;
  ASSERT_FALSE(loops.empty());
  EXPECT_TRUE(loops.front().reduction);
  EXPECT_EQ(loops.front().place.line, 0);
}

TEST_F(HostCollect, OneThatIsKilledIsSeenUntilThen) {
  const Result<Collected> seen =
      collect({built(std::string(busy) + "int main() { work_for(0.3); std::abort(); }", "killed")});
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_NE(kernel_named(seen->profile, "busy_sum"), nullptr);
  EXPECT_EQ(seen->profile.host->ended,
            "it was ended by signal 6 (Aborted): this is what was seen until then");
}

TEST_F(HostCollect, ForksAndLibrariesThatAreLoadedLaterAreSeen) {
  const std::string library =
      built(std::string(busy) + "extern \"C\" void later(double s) { work_for(s); }", "later.so",
            {"-O2", "-g", "-shared", "-fPIC"});
  const std::string program = built(
      "#include <dlfcn.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
      "int main(int, char** argv) {\n"
      "  const bool child = fork() == 0;\n"
      "  void* library = dlopen(argv[1], RTLD_NOW);\n"
      "  reinterpret_cast<void (*)(double)>(dlsym(library, \"later\"))(0.3);\n"
      "  if (!child) wait(nullptr);\n}\n",
      "forks");
  const Result<Collected> seen = collect({program, library});
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_EQ(seen->profile.host->processes, 2);
  EXPECT_NE(kernel_named(seen->profile, "busy_sum"), nullptr);
}

TEST_F(HostCollect, WhatIsStartedByExecIsSeenToo) {
  const std::string program = built(std::string(busy) + "int main() { work_for(0.3); }", "plain");
  const Result<Collected> seen = collect({"/bin/sh", "-c", "exec " + program});
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_NE(kernel_named(seen->profile, "busy_sum"), nullptr);
  EXPECT_EQ(seen->profile.host->ended, "");
}

TEST_F(HostCollect, EachToolThatIsMissingIsNamedAndTheRestWorks) {
  tools_.simulator = "";
  tools_.lines = "";
  const Result<Collected> seen =
      collect({built(std::string(busy) + "int main() { work_for(0.3); }", "plain")});
  ASSERT_TRUE(seen) << seen.error().text();
  const std::vector<std::string>& evidence = seen->profile.host->evidence;
  EXPECT_NE(std::find(evidence.begin(), evidence.end(),
                      "no llvm-mca: llvm-mca is not there: install llvm-19 (KERNELPRO_LLVM_MCA "
                      "names another)"),
            evidence.end());
  ASSERT_NE(kernel_named(seen->profile, "busy_sum"), nullptr);
  EXPECT_FALSE(kernel_named(seen->profile, "busy_sum")->loops.front().chain_cycles);
}

TEST_F(HostCollect, AProgramThatIsOverAtOnceHasTooFewSamples) {
  const Result<Collected> seen = collect({"/bin/true"});
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().message, "0 samples were taken, and 20 are needed: let it run longer");
}

TEST_F(HostCollect, AStaticProgramCannotBeSampled) {
  const Result<Collected> seen = collect({built("int main() {}", "alone", {"-static"})});
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().message,
            "the sampler was not loaded: the program is linked statically, or runs with more "
            "rights than yours");
}

}  // namespace
}  // namespace kernelpro
