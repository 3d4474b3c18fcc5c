#include "worker/toolchain/toolchain.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <kernelpro/candidate.h>

#include <fstream>
#include <memory>
#include <thread>

#include "common/base/hash.hpp"
#include "common/base/machine_lock.hpp"
#include "worker/toolchain/fixture.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

using Launch = int (*)(const kp_context*, const kp_tensor*, std::int32_t);

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

// RTLD_NODELETE: the threads of an OpenMP runtime outlive the library that started them.
Library load(const fs::path& path) {
  Library library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

// What kp_launch makes of {1, 2, 3}.
std::vector<float> launch(const fs::path& path) {
  const Library library = load(path);
  const auto run = reinterpret_cast<Launch>(dlsym(library.get(), "kp_launch"));
  EXPECT_NE(run, nullptr);
  std::vector<float> values = {1, 2, 3};
  const std::int64_t shape = 3;
  const std::int64_t stride = 1;
  const kp_tensor tensor{values.data(), {KP_FLOAT, 32, 1}, 1, &shape, &stride};
  const kp_context context{};
  EXPECT_EQ(run(&context, &tensor, 1), 0);
  return values;
}

class BuildTest : public ToolchainTest {};

TEST_F(BuildTest, EveryCompilerBuildsACandidateThatRuns) {
  const Toolchain toolchain = open(probed_settings());
  for (const Compiler& compiler : processor_compilers(toolchain)) {
    SCOPED_TRACE(compiler.name);
    const BuildOutcome outcome =
        build(toolchain, {doubling_source, compiler.name, {"-O3", "target"}, {}, {}});
    ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
    EXPECT_FALSE(outcome.cached);
    EXPECT_GT(outcome.wall_ns, 0);
    EXPECT_EQ(launch(outcome.library), (std::vector<float>{2, 4, 6}));
    EXPECT_EQ(outcome.record.compiler, compiler.path);
    EXPECT_EQ(outcome.record.compiler_identity, compiler.identity);
    EXPECT_EQ(outcome.record.source_hash, sha256(doubling_source));
    EXPECT_THAT(outcome.record.flags, AllOf(Contains("-O3"), Contains("-std=c++20"),
                                            Not(Contains("target")), Not(Contains("-O2"))));
    for (const std::string& flag : compiler.target_flags) {
      EXPECT_THAT(outcome.record.flags, Contains(flag));
    }
  }
}

TEST_F(BuildTest, ClangIsThereOrTheSkipSaysSo) {
  const Toolchain toolchain = open(probed_settings());
  if (!toolchain.find("clang++-19").ok()) {
    GTEST_SKIP() << "clang++-19 is not installed: its builds are not tested";
  }
  const BuildOutcome polly = build(
      toolchain,
      {doubling_source, "clang++-19", {"-O3", "-mllvm", "-polly-process-unprofitable"}, {}, {}});
  EXPECT_TRUE(polly.ok) << polly.diagnostics;
}

TEST_F(BuildTest, OpenMpCandidatesRunWithEveryCompilerThatHasIt) {
  const Toolchain toolchain = open(probed_settings());
  const std::string source = R"(
#include <kernelpro/candidate.h>
#include <omp.h>
extern "C" int kp_launch(const kp_context*, const kp_tensor* t, int32_t) {
  float* out = static_cast<float*>(t[0].data);
#pragma omp parallel for num_threads(2)
  for (int64_t i = 0; i < t[0].shape[0]; ++i) out[i] += static_cast<float>(omp_get_num_threads());
  return 0;
}
)";
  for (const Compiler& compiler : processor_compilers(toolchain)) {
    if (compiler.openmp_flags.empty()) {
      std::cout << compiler.name << " has no OpenMP here: not tested\n";
      continue;
    }
    const BuildOutcome outcome = build(toolchain, {source, compiler.name, {"openmp"}, {}, {}});
    ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
    EXPECT_EQ(launch(outcome.library), (std::vector<float>{3, 4, 5}));
  }
}

TEST_F(BuildTest, OnlyTheContractIsExported) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome outcome =
      build(toolchain, {source_with("extern \"C\" int helper() { return 1; }"), "", {}, {}, {}});
  ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
  EXPECT_THAT(outcome.record.flags, Contains("-O2"));
  const Library library = load(outcome.library);
  EXPECT_NE(dlsym(library.get(), "kp_launch"), nullptr);
  EXPECT_EQ(dlsym(library.get(), "helper"), nullptr);
}

TEST_F(BuildTest, MathThreadsAndNamedLibrariesLink) {
  const Toolchain toolchain = open(probed_settings());
  const std::string source = source_with(R"(
#include <cmath>
#include <thread>
double f(double x) { std::thread t([&x] { x = std::erf(x); }); t.join(); return x; }
KP_EXPORT double g(double x);
double g(double x) { return f(x); }
)");
  for (const Compiler& compiler : processor_compilers(toolchain)) {
    const BuildOutcome outcome = build(
        toolchain, {"#include <kernelpro/candidate.h>\n" + source, compiler.name, {}, {"m"}, {}});
    EXPECT_TRUE(outcome.ok) << outcome.diagnostics;
    EXPECT_THAT(outcome.record.flags, Contains("-lm"));
  }
}

TEST_F(BuildTest, FilesBesideTheSourceAreFound) {
  const Toolchain toolchain = open(probed_settings());
  const std::string source = source_with("#include \"own.h\"\nstatic_assert(own == 7);");
  const BuildOutcome outcome =
      build(toolchain, {source, "", {}, {}, {{"own.h", "constexpr int own = 7;"}}});
  EXPECT_TRUE(outcome.ok) << outcome.diagnostics;
}

TEST_F(BuildTest, NamesThatAreNotPlainAreBadInput) {
  const Toolchain toolchain = open(probed_settings());
  for (const char* name :
       {"../x.h", "a/b.h", "", "..", ".x", "-x", "candidate.cpp", "candidate.cu"}) {
    const Result<BuildOutcome> outcome =
        toolchain.build({doubling_source, "", {}, {}, {{name, ""}}});
    ASSERT_FALSE(outcome.ok()) << name;
    EXPECT_EQ(outcome.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(outcome.error().message, HasSubstr("expected a plain name"));
  }
  for (const char* name : {"", "-x", "a/b", "a,b", "a.b", "a b"}) {
    const Result<BuildOutcome> outcome = toolchain.build({doubling_source, "", {}, {name}, {}});
    ASSERT_FALSE(outcome.ok()) << name;
    EXPECT_THAT(outcome.error().message, HasSubstr("library name"));
  }
}

TEST_F(BuildTest, CompileErrorsComeBackInTheCompilersWords) {
  const Toolchain toolchain = open(probed_settings());
  for (const Compiler& compiler : processor_compilers(toolchain)) {
    const BuildOutcome outcome =
        build(toolchain, {"int broken = nowhere;\n", compiler.name, {}, {}, {}});
    EXPECT_FALSE(outcome.ok);
    EXPECT_EQ(outcome.rule, "");
    EXPECT_THAT(outcome.diagnostics, HasSubstr("candidate.cpp:1:14: error: "));
    EXPECT_THAT(outcome.diagnostics, HasSubstr("nowhere"));
  }
}

TEST_F(BuildTest, UndefinedSymbolsAndUnknownPragmasFailTheBuild) {
  const Toolchain toolchain = open(probed_settings());
  for (const Compiler& compiler : processor_compilers(toolchain)) {
    const std::string call = "extern \"C\" int nowhere();\nint x = nowhere();";
    const BuildOutcome undefined = build(toolchain, {source_with(call), compiler.name, {}, {}, {}});
    EXPECT_FALSE(undefined.ok);
    EXPECT_THAT(undefined.diagnostics, HasSubstr("undefined reference to `nowhere'"));
    EXPECT_THAT(undefined.diagnostics, Not(HasSubstr("kernelpro-build-")));
    const BuildOutcome pragma =
        build(toolchain, {source_with("#pragma no_such_pragma"), compiler.name, {}, {}, {}});
    EXPECT_FALSE(pragma.ok);
    EXPECT_THAT(pragma.diagnostics, HasSubstr("no_such_pragma"));
  }
}

TEST_F(BuildTest, CompilerIsFoundByNameAndByVersionedName) {
  const Toolchain toolchain = open(probed_settings());
  EXPECT_EQ(toolchain.find("")->name, toolchain.compilers().front().name);
  const Result<Compiler> gcc = toolchain.find("g++");
  if (gcc.ok() && gcc->identity.find(" 12.") != std::string::npos) {
    EXPECT_EQ(toolchain.find("g++-12")->path, gcc->path);
  }
}

TEST_F(BuildTest, CompilerThatNobodyKnowsIsTheCandidatesFailure) {
  const Toolchain toolchain = open(probed_settings());
  for (const char* name : {"icc", "/bin/sh", "g++ -fplugin=x", "../g++"}) {
    const BuildOutcome outcome = build(toolchain, {doubling_source, name, {}, {}, {}});
    EXPECT_FALSE(outcome.ok);
    EXPECT_EQ(outcome.rule, "");
    EXPECT_THAT(outcome.diagnostics, AllOf(HasSubstr("no compiler \"" + std::string(name) + "\""),
                                           HasSubstr(toolchain.compilers()[0].name)));
  }
}

TEST_F(BuildTest, SameSourceIsBuiltOnce) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome first = build(toolchain, {doubling_source, "", {"-O1"}, {}, {}});
  const BuildOutcome second = build(toolchain, {doubling_source, "", {"-O1"}, {}, {}});
  ASSERT_TRUE(first.ok && second.ok);
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.wall_ns, 0);
  EXPECT_EQ(second.library, first.library);
  EXPECT_EQ(second.record.binary_hash, first.record.binary_hash);
  EXPECT_EQ(second.record.flags, first.record.flags);
}

TEST_F(BuildTest, FlagsAndHeadersBelongToTheKey) {
  ToolchainSettings settings = probed_settings();
  const Toolchain toolchain = open(settings);
  const std::string source = source_with("#include \"own.h\"");
  ASSERT_TRUE(build(toolchain, {source, "", {"-O1"}, {}, {{"own.h", "// 1\n"}}}).ok);
  EXPECT_FALSE(build(toolchain, {source, "", {"-O2"}, {}, {{"own.h", "// 1\n"}}}).cached);
  EXPECT_FALSE(build(toolchain, {source, "", {"-O1"}, {"m"}, {{"own.h", "// 1\n"}}}).cached);
  EXPECT_FALSE(build(toolchain, {source, "", {"-O1"}, {}, {{"own.h", "int x;\n"}}}).cached);
  EXPECT_TRUE(build(toolchain, {source, "", {"-O1"}, {}, {{"own.h", "// 1\n"}}}).cached);

  const fs::path headers = scratch() / "include";
  fs::copy(settings.abi_include, headers, fs::copy_options::recursive);
  std::ofstream(headers / "kernelpro" / "candidate.h", std::ios::app) << "typedef int kp_extra;\n";
  settings.abi_include = headers;
  EXPECT_FALSE(build(open(settings), {source, "", {"-O1"}, {}, {{"own.h", "// 1\n"}}}).cached);
}

TEST_F(BuildTest, DamagedCacheEntriesAreBuiltAgain) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome first = build(toolchain, {doubling_source, "", {}, {}, {}});
  ASSERT_TRUE(first.ok) << first.diagnostics;
  fs::path record = first.library;
  record.replace_extension(".json");
  const std::string good = *read_file(record);
  const std::string binary = *read_file(first.library);

  const auto rebuilt = [&] {
    const BuildOutcome outcome = build(toolchain, {doubling_source, "", {}, {}, {}});
    return outcome.ok && !outcome.cached && *read_file(first.library) == binary;
  };
  ASSERT_TRUE(write_file_unsynced(first.library, binary.substr(0, 100)).ok());
  EXPECT_TRUE(rebuilt());
  ASSERT_TRUE(write_file_unsynced(first.library, binary + "x").ok());
  EXPECT_TRUE(rebuilt());
  ASSERT_TRUE(write_file_unsynced(record, good.substr(0, good.size() / 2)).ok());
  EXPECT_TRUE(rebuilt());
  ASSERT_TRUE(write_file_unsynced(record, "{\"version\": 1, \"flags\": 3}").ok());
  EXPECT_TRUE(rebuilt());
  EXPECT_TRUE(build(toolchain, {doubling_source, "", {}, {}, {}}).cached);
}

TEST_F(BuildTest, BinaryDoesNotDependOnFoldersOrTheDay) {
  ToolchainSettings settings = probed_settings();
  const Toolchain one = open(settings);
  settings.cache = scratch() / "second";
  fs::create_directories(settings.cache);
  fs::copy_file(scratch() / "cache" / "targets.json", settings.cache / "targets.json");
  const Toolchain other = open(settings);
  const std::string source = source_with(
      "#include <cassert>\nnamespace { int z(int x) { assert(x); return x; } }\n"
      "KP_EXPORT const char* day(int x);\n"
      "const char* day(int x) { return z(x) ? __DATE__ __TIME__ __FILE__ : \"\"; }");
  for (const Compiler& compiler : processor_compilers(one)) {
    const BuildRequest request{
        "#include <kernelpro/candidate.h>\n" + source, compiler.name, {"-g", "-O2"}, {}, {}};
    const BuildOutcome first = build(one, request);
    const BuildOutcome second = build(other, request);
    ASSERT_TRUE(first.ok && second.ok) << first.diagnostics << second.diagnostics;
    EXPECT_FALSE(second.cached);
    EXPECT_EQ(first.library.filename(), second.library.filename());
    EXPECT_EQ(first.record.binary_hash, second.record.binary_hash) << compiler.name;
  }
}

TEST_F(BuildTest, SeveralThreadsMayBuildTheSameAndDifferentSources) {
  const Toolchain toolchain = open(probed_settings());
  std::array<BuildOutcome, 3> outcomes;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      threads.emplace_back([&, i] {
        const char* level = i == 2 ? "-O1" : "-O2";
        outcomes[i] = build(toolchain, {doubling_source, "", {level}, {}, {}});
      });
    }
  }
  for (const BuildOutcome& outcome : outcomes) {
    ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
    EXPECT_EQ(sha256(*read_file(outcome.library)), outcome.record.binary_hash);
  }
  EXPECT_EQ(outcomes[0].library, outcomes[1].library);
  EXPECT_NE(outcomes[0].library, outcomes[2].library);
}

TEST_F(BuildTest, NothingIsBuiltWhileATimingHoldsTheCpu) {
  ToolchainSettings settings = probed_settings();
  settings.lock_timeout_ms = 200;
  const Toolchain toolchain = open(settings);
  const Result<MachineLock> timing = MachineLock::acquire("cpu", LockMode::timing, 1000);
  ASSERT_TRUE(timing.ok()) << timing.error().text();
  const Result<BuildOutcome> outcome = toolchain.build({doubling_source, "", {}, {}, {}});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::busy);
}

TEST_F(BuildTest, StopEndsTheBuild) {
  const Toolchain toolchain = open(probed_settings());
  std::stop_source stop;
  stop.request_stop();
  const Result<BuildOutcome> outcome =
      toolchain.build({doubling_source, "", {}, {}, {}}, stop.get_token());
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::interrupted);
}

TEST_F(BuildTest, CacheThatCannotBeWrittenIsNamedWithAdvice) {
  ToolchainSettings settings = probed_settings();
  const Toolchain toolchain = open(settings);
  fs::remove_all(settings.cache / "builds");
  std::ofstream(settings.cache / "builds") << "a file in the way";
  const Result<BuildOutcome> outcome = toolchain.build({doubling_source, "", {}, {}, {}});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::io);
  EXPECT_THAT(outcome.error().text(), AllOf(HasSubstr((settings.cache / "builds").string()),
                                            HasSubstr("set KERNELPRO_CACHE")));
  const Result<Toolchain> again = Toolchain::open(settings);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, ErrorKind::io);
  EXPECT_THAT(again.error().text(), HasSubstr("set KERNELPRO_CACHE"));
}

TEST_F(BuildTest, MissingJailOrHeadersAreEnvironmentErrors) {
  ToolchainSettings settings = fresh_settings();
  settings.jail = scratch() / "no-jail";
  Result<Toolchain> toolchain = Toolchain::open(settings);
  ASSERT_FALSE(toolchain.ok());
  EXPECT_EQ(toolchain.error().kind, ErrorKind::environment);
  EXPECT_THAT(toolchain.error().text(),
              AllOf(HasSubstr("no-jail"), HasSubstr("reinstall KernelPro")));
  settings = fresh_settings();
  settings.abi_include = scratch();
  toolchain = Toolchain::open(settings);
  ASSERT_FALSE(toolchain.ok());
  EXPECT_THAT(toolchain.error().text(), HasSubstr("kernelpro/candidate.h is not in this folder"));
}

}  // namespace
}  // namespace kernelpro
