#include "worker/ceilings/ceilings.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "worker/ceilings/machine.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr double planted = 12345.5;  // no machine measures exactly this

// One toolchain and one build of the kernels for all tests; the cached ceilings are each test's
// own.
class MeasuredCeilings : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Result<ScratchDir> scratch = ScratchDir::create("ceilings-test");
    ASSERT_TRUE(scratch) << scratch.error().text();
    scratch_ = std::make_unique<ScratchDir>(std::move(*scratch));
    setenv("KERNELPRO_LOCK_DIR", scratch_->path().c_str(), 1);
    ToolchainSettings settings;
    settings.cache = scratch_->path();
    settings.abi_include = KERNELPRO_SOURCE_DIR "/include";
    settings.jail = KERNELPRO_BIN_DIR "/kernelpro-jail";
    Result<Toolchain> toolchain = Toolchain::open(settings);
    ASSERT_TRUE(toolchain) << toolchain.error().text();
    toolchain_ = std::make_unique<Toolchain>(std::move(*toolchain));
  }

  static void TearDownTestSuite() {
    toolchain_.reset();
    scratch_.reset();
    unsetenv("KERNELPRO_LOCK_DIR");
  }

  void SetUp() override {
    ASSERT_TRUE(toolchain_);
    settings_.cache =
        scratch_->path() / testing::UnitTest::GetInstance()->current_test_info()->name();
    settings_.source = KERNELPRO_SOURCE_DIR "/ceilings/cpu.cpp";
    settings_.repeats = 1;
  }

  Result<Ceilings> measure(const std::stop_token& stop = {}) {
    return measure_ceilings(*toolchain_, settings_, stop);
  }

  [[nodiscard]] fs::path cache_file(const Ceilings& ceilings) const {
    return settings_.cache / "ceilings" / (ceilings.machine + ".json");
  }

  // Measures once and puts a value into the cache that a new measurement would not give.
  Ceilings measure_and_alter() {
    Result<Ceilings> first = measure();
    EXPECT_TRUE(first) << first.error().text();
    Ceilings altered = *first;
    altered.list.front().median = planted;
    write(cache_file(altered), to_json(altered).dump());
    return altered;
  }

  static void write(const fs::path& file, const std::string& content) {
    const Status written = write_file_unsynced(file, content);
    ASSERT_TRUE(written) << written.error().text();
  }

  [[nodiscard]] fs::path write_source(const std::string& content) const {
    EXPECT_TRUE(make_directories(settings_.cache));
    write(settings_.cache / "kernels.cpp", content);
    return settings_.cache / "kernels.cpp";
  }

  static std::unique_ptr<ScratchDir> scratch_;
  static std::unique_ptr<Toolchain> toolchain_;
  CeilingSettings settings_;
};

std::unique_ptr<ScratchDir> MeasuredCeilings::scratch_;
std::unique_ptr<Toolchain> MeasuredCeilings::toolchain_;

void expect_ordered(const Ceiling& ceiling) {
  EXPECT_GT(ceiling.low, 0) << ceiling.name;
  EXPECT_LE(ceiling.low, ceiling.median) << ceiling.name;
  EXPECT_LE(ceiling.median, ceiling.high) << ceiling.name;
}

TEST_F(MeasuredCeilings, AreNamedAndOrderedAsAMachineIs) {
  settings_.repeats = 3;
  const Result<Ceilings> ceilings = measure();
  ASSERT_TRUE(ceilings) << ceilings.error().text();
  const int cores = describe_machine().cores;
  for (const std::string name : {"read", "write", "copy", "triad", "fma_f32", "fma_f64"}) {
    const Ceiling* one = find_ceiling(*ceilings, name, 1);
    const Ceiling* all = find_ceiling(*ceilings, name, cores);
    ASSERT_TRUE(one != nullptr && all != nullptr) << name;
    EXPECT_EQ(one->unit, name.starts_with("fma") ? "GFLOP/s" : "GB/s") << name;
    expect_ordered(*one);
    expect_ordered(*all);
    EXPECT_GE(all->high, 0.8 * one->low) << name;
  }
  EXPECT_EQ(ceilings->list.size(), cores > 1 ? 12U : 6U);
}

TEST_F(MeasuredCeilings, OfMemoryAreWithinAFactorOfTenOfEachOther) {
  const Result<Ceilings> ceilings = measure();
  ASSERT_TRUE(ceilings) << ceilings.error().text();
  const double read = find_ceiling(*ceilings, "read", 1)->high;
  for (const char* name : {"write", "copy", "triad"}) {
    const double other = find_ceiling(*ceilings, name, 1)->high;
    EXPECT_LT(other, 10 * read) << name;
    EXPECT_GT(other, read / 10) << name;
  }
}

TEST_F(MeasuredCeilings, ComeFromTheCacheTheSecondTime) {
  const Ceilings altered = measure_and_alter();
  const Result<Ceilings> second = measure();
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(second->list.front().median, planted);
  EXPECT_EQ(second->machine, altered.machine);
}

TEST_F(MeasuredCeilings, AreMeasuredAgainOnRefresh) {
  measure_and_alter();
  settings_.refresh = true;
  const Result<Ceilings> second = measure();
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_NE(second->list.front().median, planted);
}

TEST_F(MeasuredCeilings, AreMeasuredAgainWhenTheCacheFileIsDamaged) {
  const fs::path file = cache_file(measure_and_alter());
  const Result<std::string> whole = read_file(file);
  ASSERT_TRUE(whole);
  write(file, whole->substr(0, whole->size() / 2));
  const Result<Ceilings> again = measure();
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_NE(again->list.front().median, planted);
  const Result<std::string> rewritten = read_file(file);
  ASSERT_TRUE(rewritten);
  EXPECT_TRUE(parse_json(*rewritten)) << "the damaged file should have been replaced";
}

TEST_F(MeasuredCeilings, AreMeasuredAgainWhenTheCacheFileLacksOne) {
  Ceilings altered = measure_and_alter();
  altered.list.pop_back();
  write(cache_file(altered), to_json(altered).dump());
  const Result<Ceilings> again = measure();
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->list.size(), altered.list.size() + 1);
  EXPECT_NE(again->list.front().median, planted);
}

TEST_F(MeasuredCeilings, OfOtherKernelsAreOthers) {
  const Ceilings altered = measure_and_alter();
  const Result<std::string> source = read_file(settings_.source);
  ASSERT_TRUE(source);
  settings_.source = write_source(*source + "\n// changed\n");
  const Result<Ceilings> other = measure();
  ASSERT_TRUE(other) << other.error().text();
  EXPECT_NE(other->machine, altered.machine);
  EXPECT_NE(other->list.front().median, planted);
}

TEST_F(MeasuredCeilings, NameTheSourceThatIsNotThere) {
  settings_.source = "/nowhere/cpu.cpp";
  const Result<Ceilings> ceilings = measure();
  ASSERT_FALSE(ceilings);
  EXPECT_THAT(ceilings.error().text(), HasSubstr("/nowhere/cpu.cpp"));
}

TEST_F(MeasuredCeilings, QuoteTheCompilerWhenTheSourceDoesNotBuild) {
  settings_.source = write_source("int broken(");
  const Result<Ceilings> ceilings = measure();
  ASSERT_FALSE(ceilings);
  EXPECT_EQ(ceilings.error().kind, ErrorKind::environment);
  EXPECT_THAT(ceilings.error().text(), HasSubstr("kernels.cpp: the ceiling kernels do not build"));
  EXPECT_THAT(ceilings.error().text(), HasSubstr("error:"));
}

TEST_F(MeasuredCeilings, NameTheKernelThatTheSourceLacks) {
  settings_.source = write_source("extern \"C\" int kp_something() { return 0; }");
  const Result<Ceilings> ceilings = measure();
  ASSERT_FALSE(ceilings);
  EXPECT_THAT(ceilings.error().message, HasSubstr("the ceiling kernels lack 'kp_read_one'"));
}

TEST_F(MeasuredCeilings, AreNotCachedWhenStopped) {
  ASSERT_TRUE(measure());
  settings_.refresh = true;
  fs::remove_all(settings_.cache / "ceilings");
  std::stop_source stop;
  stop.request_stop();
  const Result<Ceilings> ceilings = measure(stop.get_token());
  ASSERT_FALSE(ceilings);
  EXPECT_EQ(ceilings.error().kind, ErrorKind::interrupted);
  EXPECT_FALSE(fs::exists(settings_.cache / "ceilings"));
}

}  // namespace
}  // namespace kernelpro
