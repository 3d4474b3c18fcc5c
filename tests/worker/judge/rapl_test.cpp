#include "worker/judge/rapl.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/file.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RaplTest : public ::testing::Test {
 protected:
  void write(const std::string& domain, const std::string& file, const std::string& text) const {
    ASSERT_TRUE(make_directories(folder() / domain).ok());
    ASSERT_TRUE(write_file_unsynced(folder() / domain / file, text + "\n").ok());
  }

  void add(const std::string& domain, const std::string& name, std::uint64_t count,
           std::uint64_t range = 262'143'328'850) const {
    write(domain, "name", name);
    write(domain, "max_energy_range_uj", std::to_string(range));
    write(domain, "energy_uj", std::to_string(count));
  }

  [[nodiscard]] std::unique_ptr<EnergyMeter> open() const {
    Result<std::unique_ptr<EnergyMeter>> meter = open_rapl(folder());
    EXPECT_TRUE(meter) << meter.error().text();
    return meter ? std::move(*meter) : nullptr;
  }

  [[nodiscard]] std::string complaint() const {
    const Result<std::unique_ptr<EnergyMeter>> meter = open_rapl(folder());
    return meter ? "no error" : meter.error().text();
  }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("rapl-test");
};

TEST_F(RaplTest, SumsThePackagesAndLeavesTheirPartsAlone) {
  add("intel-rapl:0", "package-0", 1'000'000);
  add("intel-rapl:1", "package-1", 5'000'000);
  add("intel-rapl:0:0", "core", 700'000);
  add("intel-rapl:0:1", "dram", 100'000);
  add("intel-rapl:2", "psys", 9'000'000);
  const std::unique_ptr<EnergyMeter> meter = open();
  ASSERT_NE(meter, nullptr);
  EXPECT_EQ(meter->name(), "RAPL of 2 packages");
  EXPECT_EQ(*meter->joules(), 0);
  add("intel-rapl:0", "package-0", 3'500'000);
  add("intel-rapl:1", "package-1", 5'250'000);
  add("intel-rapl:0:0", "core", 999'000'000);
  add("intel-rapl:2", "psys", 999'000'000);
  EXPECT_DOUBLE_EQ(*meter->joules(), 2.75);
}

TEST_F(RaplTest, GoesOnWhereACounterBeginsAgain) {
  add("intel-rapl:0", "package-0", 9'500'000, 10'000'000);
  const std::unique_ptr<EnergyMeter> meter = open();
  ASSERT_NE(meter, nullptr);
  add("intel-rapl:0", "package-0", 9'900'000, 10'000'000);
  EXPECT_DOUBLE_EQ(*meter->joules(), 0.4);
  add("intel-rapl:0", "package-0", 200'000, 10'000'000);
  EXPECT_DOUBLE_EQ(*meter->joules(), 0.7);
  add("intel-rapl:0", "package-0", 300'000, 10'000'000);
  EXPECT_DOUBLE_EQ(*meter->joules(), 0.8);
}

TEST_F(RaplTest, SaysWhyThereIsNone) {
  EXPECT_THAT(complaint(), HasSubstr("this processor has no RAPL counters"));
  const Result<std::unique_ptr<EnergyMeter>> nowhere = open_rapl(folder() / "nowhere");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::environment);
  add("intel-rapl:0", "psys", 1);
  add("dtpm", "package-0", 1);
  EXPECT_THAT(complaint(), HasSubstr("this processor has no RAPL counters"));
}

TEST_F(RaplTest, NamesAFileThatIsNotWhatItShouldBe) {
  add("intel-rapl:0", "package-0", 1);
  write("intel-rapl:0", "energy_uj", "many");
  EXPECT_THAT(complaint(), HasSubstr("intel-rapl:0/energy_uj: expected a number"));
  fs::remove(folder() / "intel-rapl:0" / "max_energy_range_uj");
  EXPECT_THAT(complaint(), HasSubstr("max_energy_range_uj"));
}

TEST_F(RaplTest, SaysThatOnlyRootMayReadIt) {
  add("intel-rapl:0", "package-0", 1);
  const fs::path counter = folder() / "intel-rapl:0" / "energy_uj";
  fs::permissions(counter, fs::perms::none);
  if (geteuid() != 0) {
    EXPECT_THAT(complaint(), HasSubstr("may be read by root only"));
    return;
  }
  // access() asks for the real user.
  constexpr uid_t nobody = 65534;
  const fs::perms readable = fs::perms::group_read | fs::perms::others_read;
  fs::permissions(folder(), readable, fs::perm_options::add);
  fs::permissions(folder() / "intel-rapl:0" / "name", readable, fs::perm_options::add);
  ASSERT_EQ(setresuid(nobody, nobody, 0), 0);
  const std::string said = complaint();
  ASSERT_EQ(setresuid(0, 0, 0), 0);
  EXPECT_THAT(said, HasSubstr("may be read by root only"));
}

TEST_F(RaplTest, ACounterThatVanishesIsAnError) {
  add("intel-rapl:0", "package-0", 1);
  const std::unique_ptr<EnergyMeter> meter = open();
  ASSERT_NE(meter, nullptr);
  fs::remove_all(folder() / "intel-rapl:0");
  EXPECT_FALSE(meter->joules());
}

TEST_F(RaplTest, TheFolderCanBeNamed) {
  EXPECT_EQ(powercap_folder(), "/sys/class/powercap");
  setenv("KERNELPRO_POWERCAP", folder().c_str(), 1);
  EXPECT_EQ(powercap_folder(), folder());
  unsetenv("KERNELPRO_POWERCAP");
}

}  // namespace
}  // namespace kernelpro
