// A real kernelpro-worker that works off a bundle.
#include "worker/session/bundle.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "common/base/deadline.hpp"
#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/wire/bundle_line.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/sealed_line.hpp"
#include "support/leftovers.hpp"
#include "support/schema.hpp"
#include "support/small_task.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace kernelpro::testing;
namespace fs = std::filesystem;

constexpr const char* worker_program = KERNELPRO_BIN_DIR "/kernelpro-worker";

class WorkerBundle : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_THAT(own_processes(), IsEmpty()); }

  [[nodiscard]] fs::path in() const { return folder_->path() / "jobs"; }
  [[nodiscard]] fs::path out() const { return folder_->path() / "jobs.out"; }

  static std::string content(const fs::path& path) {
    const Result<std::string> text = read_file(path);
    return text ? *text : std::string();
  }

  static void put(const fs::path& path, const std::string& text) {
    const Status written = write_file_unsynced(path, text);
    ASSERT_TRUE(written) << written.error().text();
  }

  void add(WorkerOp op, const json& body) {
    const Result<std::string> line = request_line(++requests_, op, body);
    ASSERT_TRUE(line) << line.error().text();
    lines_ += *line;
  }

  // Nothing is timed: what is tested here is not the clock.
  void add_open() {
    OpenOrder order;
    order.task = small_task();
    order.timed = false;
    add(WorkerOp::open, to_json(order));
  }

  void add_evaluate(const std::string& expression) {
    EvaluateOrder order;
    order.candidate = small_candidate(small_source(expression));
    order.timed = false;
    add(WorkerOp::evaluate, to_json(order));
  }

  void write_bundle(std::int64_t part = 1) {
    put(in(), bundle_header_line({"small-1", part, requests_}) + lines_);
  }

  // A task and three candidates, of which the second is wrong.
  void write_small_bundle() {
    add_open();
    add_evaluate("y[i] + x[i]");
    add_evaluate("x[i] - y[i]");
    add_evaluate("x[i] + y[i] * 1.0f");
    write_bundle();
  }

  [[nodiscard]] Command worker() const {
    Command command;
    command.arguments = {worker_program, "run", in().string(), out().string()};
    command.inherit_environment = true;
    command.timeout_ms = 600'000;  // it may wait for the machine's lock, on a busy machine
    return command;
  }

  // Its standard error, after it ended as expected.
  std::string run(int exit_code) {
    const Result<Finished> finished = run_command(worker());
    EXPECT_TRUE(finished) << finished.error().text();
    EXPECT_EQ(finished->exit_code, exit_code) << finished->errors;
    return finished->errors;
  }

  // The replies in `out`, which the schema accepts.
  [[nodiscard]] std::vector<json> replies() const {
    std::vector<json> replies;
    const SchemaFile schema("worker_reply.json");
    const std::vector<std::string> lines = whole_lines(content(out()));
    EXPECT_EQ(SchemaFile("bundle_header.json").complaints(json::parse(lines.at(0))), "");
    for (std::size_t i = 1; i < lines.size(); ++i) {
      replies.push_back(json::parse(lines[i]));
      EXPECT_EQ(schema.complaints(replies.back()), "") << lines[i];
    }
    return replies;
  }

  // "1 ok", "2 passed", "3 incorrect", "4 bad_input": every reply in short.
  [[nodiscard]] std::vector<std::string> answers() const {
    std::vector<std::string> answers;
    for (const json& reply : replies()) {
      std::string word = "ok";
      if (!reply["ok"]) {
        word = reply["error"]["kind"];
      } else if (reply["result"].contains("certificate")) {
        word = reply["result"]["certificate"]["verdict"]["outcome"];
      }
      answers.push_back(std::to_string(reply["id"].get<int>()) + " " + word);
    }
    return answers;
  }

  WorkerEnvironment environment_;
  Result<ScratchDir> folder_ = ScratchDir::create("bundle-test");
  std::string lines_;
  std::int64_t requests_ = 0;
};

TEST_F(WorkerBundle, EveryRequestIsAnsweredInItsOrder) {
  write_small_bundle();
  const std::string errors = run(0);
  EXPECT_THAT(errors, AllOf(HasSubstr("[1/4] open: done"), HasSubstr("[2/4] small: passed"),
                            HasSubstr("[3/4] small: incorrect"), HasSubstr("[4/4] small: passed"),
                            HasSubstr("4 requests are answered"),
                            ContainsRegex("a candidate was being judged for [1-9][0-9]? % of ")));
  EXPECT_THAT(answers(), ElementsAre("1 ok", "2 passed", "3 incorrect", "4 passed"));
  const std::string before = content(out());
  EXPECT_THAT(run(0), AllOf(HasSubstr("4 requests are answered"), Not(HasSubstr("being judged"))));
  EXPECT_EQ(content(out()), before) << "a finished bundle is left alone";
}

TEST_F(WorkerBundle, OneThatFailsDoesNotStopTheRestAndIsTriedAgain) {
  add_open();
  add(WorkerOp::evaluate, {{"implementation", "fastest"}});
  lines_ += wire::sealed(R"({"v":1,"id":3,"op":"dance"})") + "\n";
  ++requests_;
  add_evaluate("x[i] + y[i]");
  write_bundle();
  EXPECT_THAT(run(5), AllOf(HasSubstr("[2/4] request 2: small: the task has no implementation"),
                            HasSubstr("2 failed; the same command tries them again")));
  EXPECT_THAT(answers(), ElementsAre("1 ok", "2 bad_input", "3 bad_input", "4 passed"));
  run(5);
  EXPECT_THAT(answers(), ElementsAre("1 ok", "2 bad_input", "3 bad_input", "4 passed",
                                     "2 bad_input", "3 bad_input"));
}

TEST_F(WorkerBundle, TheNextCandidateIsBuiltWhileOneIsJudged) {
  add_open();
  for (const char* expression : {"y[i] + x[i]", "x[i] + y[i]", "1.0f * x[i] + y[i]"}) {
    EvaluateOrder order;
    // Unlike any that was built before.
    order.candidate = small_candidate(
        small_source(expression, "", "// " + environment_.scratch().filename().string()));
    order.timed = false;
    add(WorkerOp::evaluate, to_json(order));
  }
  write_bundle();
  run(0);
  const std::vector<json> all = replies();
  ASSERT_THAT(all, SizeIs(4));
  const auto build_ns = [&all](std::size_t i) {
    return all[i]["result"]["certificate"]["verdict"]["build_ns"].get<std::int64_t>();
  };
  EXPECT_GT(build_ns(1), 0);
  EXPECT_EQ(build_ns(2), 0) << "it was not built ahead";
  EXPECT_EQ(build_ns(3), 0) << "it was not built ahead";
}

TEST_F(WorkerBundle, ATaskThatCannotBeOpenedFailsWhatNeedsIt) {
  OpenOrder order;
  order.task = small_task();
  order.task.files["reference.hpp"] = "this is not C++";
  add(WorkerOp::open, to_json(order));
  add_evaluate("x[i] + y[i]");
  write_bundle();
  EXPECT_THAT(run(5), HasSubstr("[2/2] request 2: reference.hpp: the task of request 1 cannot be "
                                "opened: the reference does not compile"));
  EXPECT_THAT(answers(), ElementsAre("1 bad_input", "2 bad_input"));
}

TEST_F(WorkerBundle, ResultsThatAreCutAnywhereAreCompletedWithoutRepeatingTheRest) {
  write_small_bundle();
  run(0);
  const std::string whole = content(out());
  std::mt19937 random(11);  // NOLINT(bugprone-random-generator-seed): the same places every time
  const std::size_t header = whole.find('\n');
  for (const std::size_t at : {std::size_t{0}, random() % header, header + 1,
                               header + 2 + random() % (whole.size() - header - 2)}) {
    put(out(), whole.substr(0, at));
    run(0);
    EXPECT_THAT(answers(), ElementsAre("1 ok", "2 passed", "3 incorrect", "4 passed"))
        << "cut at byte " << at;
    const std::size_t kept = whole.rfind('\n', at == 0 ? 0 : at - 1);
    if (at > header) {
      EXPECT_EQ(content(out()).substr(0, kept), whole.substr(0, kept)) << "cut at byte " << at;
    }
  }
}

TEST_F(WorkerBundle, AKilledWorkerLosesOnlyTheRequestUnderWay) {
  write_small_bundle();
  Result<ChildProcess> killed = ChildProcess::start(worker());
  ASSERT_TRUE(killed) << killed.error().text();
  const Deadline deadline(300'000);
  while (whole_lines(content(out())).size() < 3 && !deadline.passed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(kill(killed->pid(), SIGKILL), 0);
  killed->finish(300'000);
  const std::vector<std::string> before = whole_lines(content(out()));
  ASSERT_GE(before.size(), 3U);
  run(0);
  EXPECT_THAT(answers(), ElementsAre("1 ok", "2 passed", "3 incorrect", "4 passed"));
  const std::vector<std::string> after = whole_lines(content(out()));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
}

TEST_F(WorkerBundle, SigtermEndsItBetweenTwoLines) {
  write_small_bundle();
  Result<ChildProcess> stopped = ChildProcess::start(worker());
  ASSERT_TRUE(stopped) << stopped.error().text();
  const Deadline deadline(300'000);
  while (whole_lines(content(out())).size() < 2 && !deadline.passed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(kill(stopped->pid(), SIGTERM), 0);
  stopped->finish(300'000);
  EXPECT_THAT(content(out()), ::testing::EndsWith("\n"));
  for (const json& reply : replies()) {
    EXPECT_TRUE(reply["ok"]) << reply.dump();
  }
  run(0);
  EXPECT_THAT(answers(), ElementsAre("1 ok", "2 passed", "3 incorrect", "4 passed"));
}

TEST_F(WorkerBundle, ResultsOfAnEarlierPartGiveWay) {
  add(WorkerOp::describe, json::object());
  write_bundle();
  run(0);
  write_bundle(2);
  run(0);
  const Result<BundleHeader> header = parse_results_header(whole_lines(content(out())).front());
  ASSERT_TRUE(header) << header.error().text();
  EXPECT_EQ(header->part, 2);
  EXPECT_THAT(answers(), ElementsAre("1 ok"));
  write_bundle(1);
  EXPECT_THAT(run(2), HasSubstr("it holds the results of small-1, part 2, and the bundle is of "
                                "small-1, part 1; name another file for the results"));
}

TEST_F(WorkerBundle, ABundleThatCannotBeUsedSaysWhy) {
  EXPECT_THAT(run(2), AllOf(HasSubstr("jobs: the bundle cannot be read"), HasSubstr("No such")));
  put(in(), R"({"format":"kernelpro-bundle","v":7,"jobs":[]})"
            "\n");
  EXPECT_THAT(run(2), HasSubstr("a bundle of version 7, expected 1: install the same "
                                "kernelpro on both sides"));
  put(in(), "#!/bin/sh\n");
  EXPECT_THAT(run(2), HasSubstr("jobs: it is no bundle of this worker: "));
  put(in(), "");
  EXPECT_THAT(run(2), HasSubstr("jobs: it is no bundle: it has no whole line"));
  add(WorkerOp::describe, json::object());
  put(in(), bundle_header_line({"small-1", 1, 1}) + lines_.substr(0, 20));
  EXPECT_THAT(run(2), HasSubstr("it holds 0 whole requests and its header promises 1: copy the "
                                "bundle again"));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(WorkerBundle, AResultsFileThatCannotBeUsedIsLeftAlone) {
  add(WorkerOp::describe, json::object());
  write_bundle();
  for (const std::string text : {"my notes\n", "my notes"}) {
    put(out(), text);
    EXPECT_THAT(run(2), HasSubstr("name another file for the results, or move this one away"));
    EXPECT_EQ(content(out()), text);
  }
  const std::string other = results_header_line({"big-1", 1, 1});
  put(out(), other);
  EXPECT_THAT(run(2), HasSubstr("it holds the results of big-1, part 1"));
  EXPECT_EQ(content(out()), other);
  put(out(), results_header_line({"small-1", 1, 1}) + "nonsense\n");
  EXPECT_THAT(run(2), HasSubstr("its line 2 is no reply"));
  fs::remove(out());
  fs::create_directory(out());
  EXPECT_THAT(run(5), HasSubstr("Is a directory"));
}

TEST_F(WorkerBundle, TwoWorkersDoNotShareOneResultsFile) {
  add(WorkerOp::describe, json::object());
  write_bundle();
  const UniqueFd held(::open(out().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_EQ(flock(held.get(), LOCK_EX), 0);
  EXPECT_THAT(run(5), HasSubstr("another kernelpro-worker writes these results"));
}

TEST_F(WorkerBundle, ACallThatIsNoBundleShowsTheUsage) {
  Command command = worker();
  command.arguments.pop_back();
  const Result<Finished> finished = run_command(command);
  ASSERT_TRUE(finished) << finished.error().text();
  EXPECT_EQ(finished->exit_code, 1);
  EXPECT_THAT(finished->errors, HasSubstr("kernelpro-worker run BUNDLE RESULTS"));
}

}  // namespace
}  // namespace kernelpro
