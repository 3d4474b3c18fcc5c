// kernelpro.toml: where it is found, what it sets, and what is said of a wrong one.
#include <unistd.h>

#include "cli/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ConfigFile : public Cli {
 protected:
  void config(const std::string& text) const { write(work() / "kernelpro.toml", text); }

  // What a run with these options would be.
  [[nodiscard]] Json plan(Words more = {}) const {
    Words words = {"optimize", data("wave"), "--dry-run"};
    words.insert(words.end(), more.begin(), more.end());
    return json(words, "cli_plan.json", 0);
  }

  void expect_wrong(const std::string& text, const Words& said) const {
    config(text);
    const Finished finished = kernelpro({"optimize", data("wave"), "--dry-run"});
    EXPECT_THAT(finished.exit_code, ::testing::AnyOf(1, 2)) << text;
    for (const std::string& part : said) {
      EXPECT_THAT(finished.errors, HasSubstr(part)) << text;
    }
    EXPECT_THAT(finished.output, IsEmpty());
  }
};

TEST_F(ConfigFile, GivesDefaultsThatTheCommandLineOverrides) {
  config(
      "in-flight = 5\n[optimize]\nevaluations = 7\ntime = \"1m30s\"\ntier = [\"build\", "
      "\"pragmas\"]\n"
      "no-fast-math = true\naccept-suspect = false\n[resume]\nevaluations = 9\n");
  const Json settings = plan()["settings"];
  EXPECT_EQ(settings["in_flight"], 5);
  EXPECT_EQ(settings["evaluations"], 7);
  EXPECT_EQ(settings["seconds"], 90);
  EXPECT_EQ(settings["tiers"], Json({"build", "pragmas"}));
  EXPECT_EQ(settings["fast_math"], false);
  EXPECT_EQ(settings["accept_suspect"], false);
  const Json given = plan({"-n", "3", "--in-flight=2", "--tier", "nest"})["settings"];
  EXPECT_EQ(given["evaluations"], 3);
  EXPECT_EQ(given["in_flight"], 2);
  EXPECT_EQ(given["tiers"], Json({"nest"}));
  EXPECT_EQ(given["seconds"], 90);
  EXPECT_EQ(plan({"-n3"})["settings"]["evaluations"], 3);
  EXPECT_EQ(plan({"--no-fast-math=false"})["settings"]["fast_math"], false)
      << "a flag that says no cannot say yes";
}

TEST_F(ConfigFile, IsFoundUpwardsAndItsPathsStartAtItsFolder) {
  config("store = \"kept\"\n[optimize]\nevaluations = 7\n");
  const fs::path deep = work() / "a/b";
  fs::create_directories(deep);
  Command below = command(with_program({"optimize", data("wave"), "--dry-run", "--json"}));
  below.directory = deep.string();
  const Json plan = checked_json(run_to_end(below), "cli_plan.json", 0);
  EXPECT_EQ(plan["settings"]["evaluations"], 7);
  EXPECT_EQ(plan["store"], (work() / "kept").string());
  write(deep / "kernelpro.toml", "");
  EXPECT_EQ(checked_json(run_to_end(below), "cli_plan.json", 0)["settings"]["evaluations"], 100)
      << "the nearest alone counts";
}

TEST_F(ConfigFile, AVariableNamesAnotherOrNone) {
  config("[optimize]\nevaluations = 7\n");
  set("KERNELPRO_CONFIG", "");
  EXPECT_EQ(plan()["settings"]["evaluations"], 100);
  write(work() / "other.toml", "[optimize]\nevaluations = 8\n");
  set("KERNELPRO_CONFIG", "other.toml");
  EXPECT_EQ(plan()["settings"]["evaluations"], 8);
  set("KERNELPRO_CONFIG", "lost.toml");
  const Finished lost = kernelpro({"runs"});
  expect_exit(lost, 2);
  EXPECT_THAT(lost.errors, AllOf(HasSubstr("lost.toml"), HasSubstr("No such file")));
}

TEST_F(ConfigFile, WhatIsWrongIsNamedWithItsLineAndWhatWasMeant) {
  expect_wrong("\n[optimize]\nevalutions = 3\n",
               {"kernelpro.toml:3: evalutions: ", "did you mean \"evaluations\"?"});
  expect_wrong("[optimze]\nseed = 3\n",
               {"kernelpro.toml:1: optimze: ", "did you mean \"optimize\"?"});
  expect_wrong("[task.chek]\n", {"kernelpro.toml:1: chek: ", "did you mean \"check\"?"});
  expect_wrong("color = 3\n", {"kernelpro.toml:1: color: ", "`kernelpro --help` lists them"});
  expect_wrong("help = true\n", {"kernelpro.toml:1: help: "});
  expect_wrong("[optimize]\nquiet = 1\n",
               {"kernelpro.toml:2: quiet: expected true or false, found the integer 1"});
  expect_wrong("[optimize]\nseed = [1, 2]\n",
               {"kernelpro.toml:2: seed: expected one value, found an array"});
  expect_wrong("[optimize]\nseed = true\n",
               {"kernelpro.toml:2: seed: expected text or a number, found the boolean true"});
  expect_wrong("[optimize\n", {"kernelpro.toml:1", "not valid TOML"});
  // What options themselves refuse.
  expect_wrong("[optimize]\ntime = \"much\"\n",
               {"--time: expected 1s to 30d", "kernelpro.toml:2 gives --time"});
  expect_wrong("[optimize]\nbackend = \"gpu\"\n", {"--backend: ", "kernelpro.toml:2 gives"});
  EXPECT_FALSE(fs::exists(work() / ".kernelpro"));
}

TEST_F(ConfigFile, HelpWorksWhateverIsInIt) {
  config("[optimze\n");
  for (const Words& words : {Words{"--help"}, Words{"optimize", "-h"}, Words{"help", "runs"},
                             Words{"-V"}, Words{"completion", "bash"}, Words{"man", "runs"}}) {
    expect_exit(kernelpro(words), 0);
  }
  expect_exit(kernelpro({"config"}), 2);
  const Json error = json({"runs"}, "cli_config.json", 2);
  EXPECT_THAT(error["error"]["message"], HasSubstr("not valid TOML"));
}

TEST_F(ConfigFile, YieldsToWhatItCannotStandBeside) {
  config(
      "[diagnose]\njson = true\n[bench.kernelbench]\nlevels = \"1\"\n[optimize]\nserial = true\n");
  write(work() / "kernelbench.jsonl", "");
  // --md excludes --json, --levels needs --kernelbench, --serial is of FILE:FUNCTION.
  EXPECT_THAT(kernelpro({"diagnose", "--profile", "lost.json", "--md"}).errors,
              Not(HasSubstr("excludes")));
  EXPECT_THAT(kernelpro({"bench", "kernelbench"}).errors, Not(HasSubstr("requires")));
  (void)plan();
}

TEST_F(ConfigFile, ConfigTellsWhatIsInForceAndFromWhere) {
  EXPECT_THAT(kernelpro({"config"}).output, HasSubstr("no kernelpro.toml"));
  config("quiet = true\n[optimize]\nevaluations = 7\n[resume]\nevaluations = 9\n");
  set("KERNELPRO_STORE", "kept");
  const Finished shown = kernelpro({"config"});
  expect_exit(shown, 0);
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr((work() / "kernelpro.toml").string()), HasSubstr("--evaluations"),
                    HasSubstr("KERNELPRO_STORE=kept"), HasSubstr("runs are kept in kept")));
  const Json all = json({"config"}, "cli_config.json", 0);
  EXPECT_EQ(all["defaults"].size(), 3U);
  const Json one = json({"config", "resume"}, "cli_config.json", 0);
  ASSERT_EQ(one["defaults"].size(), 2U);
  EXPECT_EQ(one["defaults"][0]["option"], "--evaluations");
  EXPECT_EQ(one["defaults"][0]["values"], Json({"9"}));
  EXPECT_EQ(one["defaults"][0]["line"], 5);
  EXPECT_EQ(one["defaults"][1]["option"], "--quiet");
  expect_exit(kernelpro({"config", "resum"}), 2);
}

TEST_F(ConfigFile, AnotherUsersFileIsRefusedUnlessItIsNamed) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can make a file of another user";
  }
  config("[optimize]\nevaluations = 7\n");
  ASSERT_EQ(::chown((work() / "kernelpro.toml").c_str(), 12345, 12345), 0);
  const Finished refused = kernelpro({"runs"});
  expect_exit(refused, 2);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("kernelpro.toml: it belongs to another user"),
                                    HasSubstr("KERNELPRO_CONFIG")));
  set("KERNELPRO_CONFIG", (work() / "kernelpro.toml").string());
  EXPECT_EQ(plan()["settings"]["evaluations"], 7);
}

}  // namespace
}  // namespace kernelpro
