// Energy from the command line, by a counter of the test's own.
#include <algorithm>

#include "cli/fixture.hpp"
#include "support/energy_counter.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class EnergyCommand : public Cli {
 protected:
  [[nodiscard]] static Words optimizing(const std::string& objective) {
    return {"optimize", data("wave"), "--timing",    "0.02",    "-n",      "1",
            "--tier",   "build",      "--objective", objective, "--quiet", "--accept-suspect"};
  }
};

TEST_F(EnergyCommand, IsRefusedAtOnceWhereThereIsNoCounter) {
  fs::create_directories(work() / "no-counters");
  set("KERNELPRO_POWERCAP", (work() / "no-counters").string());
  for (const char* objective : {"energy", "time-then-energy", "edp"}) {
    const Finished refused = kernelpro(optimizing(objective));
    expect_exit(refused, 5);
    EXPECT_THAT(refused.errors,
                AllOf(HasSubstr("energy cannot be measured here: this processor has no RAPL"),
                      HasSubstr(std::string("--objective ") + objective)));
  }
  EXPECT_FALSE(fs::exists(work() / ".kernelpro")) << "a run was begun";
  const Finished evaluated = kernelpro({"evaluate", data("wave"), data("fast.cpp"), "--energy"});
  expect_exit(evaluated, 5);
  EXPECT_THAT(evaluated.errors, HasSubstr("energy cannot be measured here: this processor has no"));
  const Json machine = json({"doctor"}, "cli_doctor.json", 0);
  EXPECT_EQ(machine["meters"][0]["meter"], "");
  EXPECT_THAT(std::string(machine["meters"][0]["missing"]), HasSubstr("no RAPL counters"));
}

TEST_F(EnergyCommand, WhatMakesNoSenseIsAUsageError) {
  const Finished both =
      kernelpro({"evaluate", data("wave"), data("fast.cpp"), "--energy", "--no-timing"});
  expect_exit(both, 1);
  EXPECT_THAT(both.errors, AllOf(HasSubstr("--energy"), HasSubstr("--no-timing")));
  const Finished unknown = kernelpro(optimizing("beauty"));
  expect_exit(unknown, 1);
  EXPECT_THAT(unknown.errors, AllOf(HasSubstr("--objective"), HasSubstr("time-then-energy")));
}

// A counter of constant power: what is faster takes less energy.
TEST_F(EnergyCommand, ARunByEnergyKeepsItsRankingAndShowsIt) {
  const EnergyCounter counter;
  set("KERNELPRO_POWERCAP", counter.folder().string());
  const Json run = json(optimizing("energy"), "cli_report.json", 0);
  EXPECT_EQ(run["objective"], "energy");
  ASSERT_THAT(run["ranking"], SizeIs(1));
  EXPECT_EQ(run["ranking"][0]["node"], run["best"]["id"]);
  EXPECT_TRUE(run["ranking"][0]["holds"]);
  EXPECT_LT(run["ranking"][0]["energy_ratio"], 1);
  const Finished report = kernelpro({"report", "wave-1"});
  expect_exit(report, 0);
  EXPECT_THAT(report.output, AllOf(HasSubstr("objective"), HasSubstr("finalists by energy")));
  const Json shown = json({"show", "wave-1"}, "cli_show.json", 0);
  EXPECT_EQ(shown["certificate"]["verdict"]["energy"]["meter"], "RAPL of 1 package");
  EXPECT_THAT(kernelpro({"show", "wave-1"}).output,
              AllOf(HasSubstr("it takes less (by RAPL of 1 package"), HasSubstr("gross a call"),
                    HasSubstr("finalists by energy")));
}

}  // namespace
}  // namespace kernelpro
