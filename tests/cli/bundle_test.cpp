// Runs whose candidates are judged elsewhere: bundles written, worked off and read back, with the
// real programs.
#include "cli/running.hpp"
#include "common/wire/bundle_line.hpp"
#include "common/wire/worker_line.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class BundleRun : public Cli {
 protected:
  [[nodiscard]] fs::path jobs() const { return work() / "jobs"; }
  [[nodiscard]] fs::path results() const { return work() / "jobs.out"; }

  // Short rounds: what is tested here is not the clock.
  [[nodiscard]] Finished optimize(Words more) const {
    Words words = {"optimize", data("wave"), "--timing",   "0.02", "--accept-suspect",
                   "--tier",   "build",      "-n",         "5",    "--batch",
                   "3",        "--workers",  "bundle:jobs"};
    words.insert(words.end(), more.begin(), more.end());
    return kernelpro(words);
  }

  [[nodiscard]] Finished worker() const {
    return run_to_end(command({KERNELPRO_BIN_DIR "/kernelpro-worker", "run", "jobs", "jobs.out"}));
  }

  [[nodiscard]] std::string waiting_text(const std::string& then) const {
    return "waiting: run `kernelpro-worker run " + jobs().string() + " " + results().string() +
           "` on the machine that judges, then " + then + "\n";
  }

  // The requests of an op in the bundle.
  [[nodiscard]] std::vector<Json> requests(const std::string& op) const {
    std::vector<Json> found;
    const std::vector<std::string> lines = whole_lines(content_of(jobs()));
    EXPECT_EQ(SchemaFile("bundle_header.json").complaints(Json::parse(lines.at(0))), "");
    for (const std::string& line : lines) {
      const Json request = Json::parse(line);
      if (request.value("op", "") == op) {
        found.push_back(request);
      }
    }
    return found;
  }

  [[nodiscard]] Json report() const { return json({"report", "wave-1"}, "cli_report.json", 0); }

  // Of a run that has ended.
  void expect_confirming_asks_anew() const {
    const std::vector<Json> before = requests("evaluate");
    const Finished asked = kernelpro({"confirm", "wave-1"});
    expect_exit(asked, 4);
    EXPECT_THAT(asked.errors, HasSubstr("waiting: run `kernelpro-worker run "));
    const std::vector<Json> again = requests("evaluate");
    ASSERT_FALSE(again.empty());
    for (const Json& request : again) {
      for (const Json& old : before) {
        EXPECT_NE(request["id"], old["id"]) << "an old answer must not be taken for a new one";
      }
    }
    expect_exit(worker(), 0);
    Finished confirmed = kernelpro({"confirm", "wave-1"});
    // Finalists that the machine disturbed are measured once more.
    for (int more = 0; confirmed.exit_code == 4 && more < 4; ++more) {
      expect_exit(worker(), 0);
      confirmed = kernelpro({"resume", "wave-1"});
    }
    EXPECT_TRUE(confirmed.exit_code == 0 || confirmed.exit_code == 3) << confirmed.errors;
    EXPECT_EQ(report()["state"], "finished");
    EXPECT_EQ(report()["evaluations"], 5);
  }
};

TEST_F(BundleRun, GoesOnFromBundleToBundleUntilTheBestIsConfirmed) {
  const Finished begun = optimize({});
  expect_exit(begun, 4);
  EXPECT_THAT(begun.errors, HasSubstr(waiting_text("`kernelpro resume wave-1`")));
  EXPECT_THAT(requests("evaluate"), SizeIs(1)) << "the baseline comes first";
  EXPECT_EQ(report()["state"], "waiting");
  std::vector<std::size_t> sizes;
  Finished last = begun;
  for (int bundles = 0; last.exit_code == 4; ++bundles) {
    ASSERT_LT(bundles, 12);
    sizes.push_back(requests("evaluate").size());
    expect_exit(worker(), 0);
    last = kernelpro({"resume", "wave-1"});
  }
  expect_exit(last, 0);
  EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end() - 1), 3U) << "--batch";
  EXPECT_GE(sizes.back(), 1U) << "the finalists come last, all at once";
  const Json end = report();
  EXPECT_EQ(end["state"], "finished");
  EXPECT_EQ(end["evaluations"], 5);
  EXPECT_GT(end["best"]["speedup"], 1);
  expect_confirming_asks_anew();
}

TEST_F(BundleRun, SaysWhatToDoWhileThereAreNoResults) {
  expect_exit(optimize({}), 4);
  const std::string before = content_of(jobs());
  const Finished resumed = kernelpro({"resume", "wave-1"});
  expect_exit(resumed, 4);
  EXPECT_THAT(resumed.errors, AllOf(HasSubstr(results().string() + " is not there yet"),
                                    HasSubstr(waiting_text("`kernelpro resume wave-1`"))));
  EXPECT_EQ(content_of(jobs()), before) << "a worker may have begun with it";
}

TEST_F(BundleRun, ResultsThatAreMissingStayAwaited) {
  expect_exit(optimize({}), 4);
  expect_exit(worker(), 0);
  expect_exit(kernelpro({"resume", "wave-1"}), 4);
  const Finished early = kernelpro({"resume", "wave-1"});
  expect_exit(early, 4);
  EXPECT_THAT(early.errors, HasSubstr("answers part 1 of the bundle, which now is part 2"));

  const std::string bundle = content_of(jobs());
  ASSERT_THAT(requests("evaluate"), SizeIs(3));
  expect_exit(worker(), 0);
  const std::string whole = content_of(results());
  write(results(), whole.substr(0, whole.size() - 100));  // the last entry is cut
  expect_exit(kernelpro({"resume", "wave-1"}), 4);
  EXPECT_EQ(report()["evaluations"], 2);
  EXPECT_EQ(report()["in_flight"], 1);
  EXPECT_EQ(content_of(jobs()), bundle);
  expect_exit(worker(), 0);
  expect_exit(kernelpro({"resume", "wave-1"}), 4);
  EXPECT_EQ(report()["evaluations"], 3);
}

TEST_F(BundleRun, AnEntryThatFailedThereIsNamedAndTriedAgain) {
  expect_exit(optimize({}), 4);
  expect_exit(worker(), 0);
  std::vector<std::string> lines = whole_lines(content_of(results()));
  ASSERT_THAT(lines, SizeIs(4));
  write(results(), lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n" +
                       error_line(3, make_error(ErrorKind::busy, "in use", "gpu")));
  const Finished resumed = kernelpro({"resume", "wave-1"});
  expect_exit(resumed, 4);
  EXPECT_THAT(resumed.errors,
              HasSubstr("judging node 0 failed there and will be tried again: gpu: in use"));
  expect_exit(worker(), 0);
  const Finished again = kernelpro({"resume", "wave-1"});
  expect_exit(again, 4);
  EXPECT_THAT(again.errors, Not(HasSubstr("failed there")));
  EXPECT_THAT(requests("evaluate"), SizeIs(3));
}

// With whole lines, as another worker would write them.
TEST_F(BundleRun, AnAnswerToAnotherOrderIsRefusedWithItsLine) {
  expect_exit(optimize({}), 4);
  expect_exit(worker(), 0);
  const std::vector<std::string> lines = whole_lines(content_of(results()));
  ASSERT_THAT(lines, SizeIs(4));
  const struct {
    std::string key;
    Json value;
    std::string what;
  } cases[] = {
      {"/certificate/candidate/source", "int foreign;\n", "the candidate (baseline)"},
      {"/certificate/candidate/options", {"-O1"}, "the candidate (baseline)"},
      {"/certificate/task/name", "other", "the task (other)"},
      {"/certificate/task_hash", std::string(64, '0'), "the task (wave)"},
      {"/certificate/sandbox", "none", "the sandbox (none)"},
  };
  for (const auto& one : cases) {
    Json result = Json::parse(lines[3])["result"];
    result[Json::json_pointer(one.key)] = one.value;
    write(results(), lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n" + *reply_line(3, result));
    const Finished refused = kernelpro({"resume", "wave-1"});
    expect_exit(refused, 2);
    EXPECT_THAT(refused.errors, HasSubstr(results().string() + ":4: this answers another order: " +
                                          one.what + " is not what was asked for"));
    EXPECT_EQ(report()["evaluations"], 0);
  }
  Json unknown = Json::parse(lines[3])["result"];
  unknown["cert1ficate"] = unknown["certificate"];
  write(results(), lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n" + *reply_line(3, unknown));
  EXPECT_THAT(kernelpro({"resume", "wave-1"}).errors,
              HasSubstr(results().string() + ":4: /cert1ficate: "));
}

TEST_F(BundleRun, AWorkerRefusesABundleWithAChangedBit) {
  expect_exit(optimize({}), 4);
  const std::string whole = content_of(jobs());
  write(jobs(), replaced(whole, R"("sandbox":"landlock")", R"("sandbox":"landlocj")"));
  const Finished refused = worker();
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.errors, HasSubstr("jobs:3: its checksum does not fit"));
}

TEST_F(BundleRun, FilesOfSomebodyElseAreNotTouched) {
  write(jobs(), "my notes\n");
  const Finished refused = optimize({});
  expect_exit(refused, 2);
  EXPECT_THAT(refused.errors, HasSubstr("jobs: it is there already"));
  fs::remove(jobs());
  expect_exit(optimize({}), 4);
  write(results(), results_header_line({"big-1", 1, 1}));
  const Finished others = kernelpro({"resume", "wave-1"});
  expect_exit(others, 2);
  EXPECT_THAT(others.errors, HasSubstr("jobs.out: it belongs to big-1, not to wave-1 of "));
  write(results(), R"({"format":"kernelpro-results","v":9})"
                   "\n");
  EXPECT_THAT(kernelpro({"resume", "wave-1"}).errors,
              HasSubstr("a bundle of version 9, expected 1"));
}

TEST_F(BundleRun, ABundleThatIsLostIsWrittenAgain) {
  expect_exit(optimize({}), 4);
  expect_exit(worker(), 0);
  expect_exit(kernelpro({"resume", "wave-1"}), 4);
  const std::vector<Json> before = requests("evaluate");
  fs::remove(jobs());
  fs::remove(results());
  expect_exit(kernelpro({"resume", "wave-1"}), 4);
  EXPECT_EQ(requests("evaluate"), before);
}

TEST_F(BundleRun, AnEvaluationIsReadByTheSameCommandAgain) {
  const Words words = {"evaluate",    data("wave"), "plain",
                       "--no-timing", "--workers",  "bundle:jobs"};
  const Finished first = kernelpro(words);
  expect_exit(first, 4);
  EXPECT_THAT(first.errors, HasSubstr(waiting_text("this command again")));
  expect_exit(kernelpro(words), 4);
  expect_exit(worker(), 0);
  const Finished read = kernelpro(words);
  expect_exit(read, 0);
  EXPECT_THAT(read.output, HasSubstr("passed"));
  Words others = words;
  others.emplace_back("--threads");
  others.emplace_back("1");
  const Finished refused = kernelpro(others);
  expect_exit(refused, 2);
  EXPECT_THAT(refused.errors, HasSubstr("jobs: it belongs to evaluation "));
}

TEST_F(BundleRun, WorkersOfAnUnknownKindAreRefused) {
  for (const char* workers : {"bundle", "bundle:", "moon", "local,moon", "cmd:", "local:x"}) {
    const Finished refused = kernelpro({"optimize", data("wave"), "--workers", workers});
    expect_exit(refused, 1);
    EXPECT_THAT(
        refused.errors,
        AllOf(HasSubstr("expected \"local\", \"local:DEVICE\", \"cmd:COMMAND\" or \"slurm:"),
              HasSubstr("found \"" + std::string(workers) + "\"")));
  }
}

TEST_F(BundleRun, BackendAndDeviceGoIntoTheOrder) {
  copy_task("wave", [](const std::string& toml) {
    return toml +
           "\n[[baseline]]\nname = \"plain-cuda\"\nbackend = \"cuda\"\nfile = "
           "\"baseline.cpp\"\n";
  });
  const Finished begun = kernelpro(
      {"optimize", "wave", "--workers", "bundle:jobs", "--backend", "cuda", "--device", "2"});
  expect_exit(begun, 4);
  EXPECT_THAT(begun.errors, HasSubstr("on the GPU node, then"));
  ASSERT_THAT(requests("open"), SizeIs(1));
  EXPECT_EQ(requests("open")[0]["backend"], "cuda");
  EXPECT_EQ(requests("open")[0]["device"], 2);
  EXPECT_EQ(requests("evaluate")[0]["candidate"]["backend"], "cuda");
}

}  // namespace
}  // namespace kernelpro
