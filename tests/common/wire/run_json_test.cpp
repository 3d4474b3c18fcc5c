#include "common/wire/run_json.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/samples.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using json = nlohmann::json;

RunSettings changed_run_settings() {
  RunSettings settings;
  settings.judging.backend = Backend::cuda;
  settings.judging.device = 3;
  settings.workers = {.scheme = WorkerScheme::bundle, .places = {}, .file = "/data/jobs"};
  settings.search = "greedy";
  settings.preset = "paper";
  settings.seed = std::numeric_limits<std::uint64_t>::max();
  settings.evaluations = std::int64_t{1} << 40;
  settings.seconds = 0.1 + 0.2;
  settings.in_flight = 7;
  settings.step = 1;
  settings.tiers = {"sure"};
  settings.moves = {"tile", "unroll"};
  settings.fast_math = false;
  settings.sweep = false;
  settings.stop_at = 0.9;
  settings.accept_suspect = true;
  settings.allow_precision = {"bf16"};
  settings.judging.sandbox = false;
  settings.judging.threads = 3;
  settings.judging.call_timeout_seconds = 2.5;
  settings.judging.timing_seconds = 0.75;
  settings.judging.warm = true;
  settings.feedback = Feedback::raw;
  settings.judging.trace = true;
  settings.judging.includes = {{"cutlass", "/some/folder", "0123", "abc"}};
  settings.objective = Objective::time_then_energy;
  settings.memory = "/some/lessons.sqlite";
  settings.starts = {testing::sample_candidate("mine")};
  return settings;
}

TEST(RunJson, SettingsSurviveARoundTrip) {
  const json written = to_json(changed_run_settings());
  const json fresh = to_json(RunSettings{});
  ASSERT_EQ(written.size(), fresh.size());
  for (const auto& [key, value] : fresh.items()) {
    EXPECT_NE(value, written.at(key)) << key << " has its default value";
  }
  const Result<json> parsed = parse_json(written.dump());
  ASSERT_TRUE(parsed.ok());
  const Result<RunSettings> read = run_settings_from_json(*parsed);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(read->seconds, 0.1 + 0.2);
}

TEST(RunJson, ARunFromBeforeThereWasATunerKeepsItsSteps) {
  json written = to_json(RunSettings{});
  EXPECT_TRUE(run_settings_from_json(written)->sweep);
  written.erase("sweep");
  EXPECT_FALSE(run_settings_from_json(written)->sweep);
}

TEST(RunJson, ARankingSurvivesARoundTrip) {
  Finalist one;
  one.at_least = true;
  one.node = 7;
  one.speedup = 1.5;
  one.speedup_interval = {1.4, 1.6};
  one.faster = true;
  one.energy_ratio = 0.75;
  one.energy_interval = {0.5, std::numeric_limits<double>::infinity()};
  one.joules = 0.125;
  one.matched_speed = true;
  one.holds = true;
  const json written = to_json(std::vector<Finalist>{one, Finalist{}});
  ASSERT_EQ(written.size(), 2U);
  for (const auto& [key, value] : written[1].items()) {
    EXPECT_NE(value, written[0].at(key)) << key << " has its default value";
  }
  const Result<std::vector<Finalist>> read = ranking_from_json(*parse_json(written.dump()));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_FALSE(ranking_from_json({{{"node", 7}}}).ok());
}

TEST(RunJson, AnObjectiveThatDoesNotExistIsAnError) {
  const Result<RunSettings> read = run_settings_from_json({{"objective", "beauty"}});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().text(), HasSubstr("/objective"));
}

TEST(RunJson, MissingKeysHaveTheirDefaults) {
  const Result<RunSettings> read = run_settings_from_json({{"search", "random"}});
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->search, "random");
  EXPECT_EQ(read->evaluations, RunSettings{}.evaluations);
  EXPECT_TRUE(read->judging.sandbox);
}

TEST(RunJson, UnknownKeysAndWrongTypesAreErrorsThatNameThePlace) {
  const Result<RunSettings> unknown = run_settings_from_json({{"serach", "random"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().text(), HasSubstr("serach"));
  const Result<RunSettings> wrong = run_settings_from_json({{"threads", "many"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(wrong.error().text(), HasSubstr("/threads"));
}

}  // namespace
}  // namespace kernelpro
