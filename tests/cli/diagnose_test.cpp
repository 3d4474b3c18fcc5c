// `kernelpro diagnose`: what it accepts, what it asks of a worker and how it shows the answer.
#include <nlohmann/json.hpp>

#include "cli/fixture.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/profile_json.hpp"
#include "common/wire/worker_line.hpp"
#include "support/profiles.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// With a copy of kernelpro beside a worker that answers what the test says, whatever it is asked.
class Diagnose : public Cli {
 protected:
  Diagnose() {
    fs::create_directories(programs());
    fs::copy_file(KERNELPRO_BIN_DIR "/kernelpro", programs() / "kernelpro");
  }

  [[nodiscard]] fs::path programs() const { return temporary() / "programs"; }
  [[nodiscard]] fs::path asked() const { return temporary() / "asked.json"; }

  // The worker's lines; the request it got is written to asked().
  void let_worker_say(const std::string& lines) const {
    write(temporary() / "answer.json", lines);
    const fs::path worker = programs() / "kernelpro-worker";
    write(worker, "#!/bin/sh\nread -r line\nprintf '%s\\n' \"$line\" > " + asked().string() +
                      "\ncat " + (temporary() / "answer.json").string() + "\nread -r line\n");
    fs::permissions(worker, fs::perms::owner_all);
  }

  void let_worker_diagnose(const Diagnosed& diagnosed) const {
    const Result<std::string> line = reply_line(1, to_json(diagnosed));
    ASSERT_TRUE(line.ok()) << line.error().text();
    let_worker_say(event_line({1, "trace", "tracing"}) + *line);
  }

  [[nodiscard]] Finished with_that_worker(Words arguments) const {
    arguments.insert(arguments.begin(), (programs() / "kernelpro").string());
    return run_to_end(command(std::move(arguments)));
  }

  [[nodiscard]] DiagnoseOrder order() const {
    const Result<WorkerRequest> request = parse_request(content_of(asked()));
    EXPECT_TRUE(request.ok()) << request.error().text();
    const Result<DiagnoseOrder> read = diagnose_order_from_json(*request->body);
    EXPECT_TRUE(read.ok()) << read.error().text();
    return read.ok() ? *read : DiagnoseOrder();
  }
};

TEST_F(Diagnose, AProgramIsDiagnosedWithItsArguments) {
  let_worker_diagnose(sample_diagnosed());
  const Finished finished =
      with_that_worker({"diagnose", "--all-tools", "--rules", "--no-counters", "--timeout", "7",
                        "--device", "2", "--", "/bin/echo", "--json", "--", "x y"});
  expect_exit(finished, 0);
  EXPECT_THAT(finished.output, AllOf(StartsWith("./scale --size 4096\n"),
                                     HasSubstr("predicted gain 1.85"), HasSubstr("scale.cu:12")));
  const DiagnoseOrder asked_for = order();
  EXPECT_EQ(asked_for.kind, DiagnoseKind::program);
  EXPECT_EQ(asked_for.program, (Words{"/bin/echo", "--json", "--", "x y"}));
  EXPECT_EQ(asked_for.directory, fs::canonical(work()).string());
  EXPECT_TRUE(asked_for.all_tools && asked_for.rules);
  EXPECT_FALSE(asked_for.counters);
  EXPECT_EQ(asked_for.timeout_ms, 7000);
  EXPECT_EQ(asked_for.device, 2);
}

TEST_F(Diagnose, ShowsMarkdownRawAndJson) {
  let_worker_diagnose(sample_diagnosed());
  const Finished markdown = with_that_worker({"diagnose", "--md", "--raw", "--", "/bin/true"});
  expect_exit(markdown, 0);
  EXPECT_THAT(markdown.output, AllOf(StartsWith("# Diagnosis of `./scale --size 4096`\n"),
                                     HasSubstr("| dram_use | 0.92 | counter |")));
  const Json json = checked_json(with_that_worker({"diagnose", "--json", "--", "/bin/true"}),
                                 "cli_diagnose.json", 0);
  EXPECT_EQ(json, to_json(sample_diagnosed()));
}

TEST_F(Diagnose, ASavedProfileIsDiagnosedAgain) {
  let_worker_diagnose(sample_diagnosed());
  const Finished kept = with_that_worker({"diagnose", "--keep", "raw", "--", "/bin/true"});
  expect_exit(kept, 0);
  EXPECT_EQ(order().keep, (fs::canonical(work()) / "raw").string());
  const Json profile = Json::parse(content_of(work() / "raw" / "profile.json"));
  EXPECT_EQ(profile, to_json(sample_profile()));
  EXPECT_EQ(SchemaFile("diagnosis.json")
                .complaints(Json::parse(content_of(work() / "raw" / "diagnosis.json"))),
            "");
  expect_exit(with_that_worker({"diagnose", "--profile", "raw/profile.json"}), 0);
  EXPECT_EQ(order().kind, DiagnoseKind::profile);
  EXPECT_EQ(to_json(*order().profile), profile);
  // What --json printed will do as well.
  write(work() / "printed.json", to_json(sample_diagnosed()).dump());
  expect_exit(with_that_worker({"diagnose", "--profile", "printed.json"}), 0);
  EXPECT_EQ(to_json(*order().profile), profile);
}

TEST_F(Diagnose, AReportOfNsysIsHandedOver) {
  let_worker_diagnose(sample_diagnosed());
  write(work() / "r.nsys-rep", "x");
  expect_exit(with_that_worker({"diagnose", "--nsys", "r.nsys-rep"}), 0);
  EXPECT_EQ(order().kind, DiagnoseKind::nsys);
  EXPECT_EQ(order().nsys_report, (fs::canonical(work()) / "r.nsys-rep").string());
}

TEST_F(Diagnose, WhatTheWorkerRefusesHasItsExitCode) {
  const struct {
    Error error;
    int exit_code;
  } cases[] = {
      {make_error(ErrorKind::bad_input, "the program launched no kernel", "./app"), 2},
      {make_error(ErrorKind::environment, "there is no GPU"), 5},
      {make_error(ErrorKind::lost, "ncu died"), 5},
  };
  for (const auto& refused : cases) {
    let_worker_say(error_line(1, refused.error));
    const Finished finished = with_that_worker({"diagnose", "--", "/bin/true"});
    expect_exit(finished, refused.exit_code);
    EXPECT_EQ(finished.errors, "kernelpro: " + refused.error.text() + "\n");
    const Json json = checked_json(with_that_worker({"diagnose", "--json", "--", "/bin/true"}),
                                   "cli_diagnose.json", refused.exit_code);
    EXPECT_EQ(json["error"]["message"], refused.error.message);
  }
}

TEST_F(Diagnose, AWorkerThatAnswersNonsenseIsLost) {
  let_worker_say(*reply_line(1, {{"profile", 3}}));
  const Finished finished = with_that_worker({"diagnose", "--", "/bin/true"});
  EXPECT_NE(finished.exit_code, 0);
  EXPECT_THAT(finished.errors, HasSubstr("/profile"));
}

TEST_F(Diagnose, WrongArgumentsAreNamed) {
  const struct {
    Words arguments;
    std::string what;
  } cases[] = {
      {{"diagnose"}, "expected one of TASK SOURCE, -- PROGRAM, --nsys REPORT and --profile FILE"},
      {{"diagnose", "gemm"}, "source is required"},
      {{"diagnose", "--"}, "expected a program and its arguments behind it"},
      {{"diagnose", "gemm", "a.cu", "--", "./app"}, "expected one of TASK SOURCE"},
      {{"diagnose", "--nsys", "r", "--profile", "p"}, "expected one of TASK SOURCE"},
      {{"diagnose", "gemm", "a.cu", "b.cu"}, "source: At Most 1 required but received 2"},
      {{"diagnose", "--md", "--json", "--", "/bin/true"}, "--md excludes --json"},
      {{"diagnose", "--shape", "m=1", "--", "/bin/true"}, "--shape requires task"},
      {{"diagnose", "gemm", "a.cu", "--backend", "tpu"}, "there is no \"tpu\""},
      {{"diagnose", "--timeout", "0", "--", "/bin/true"}, "--timeout"},
  };
  for (const auto& wrong : cases) {
    const Finished finished = kernelpro(wrong.arguments);
    expect_exit(finished, 1);
    EXPECT_THAT(finished.errors, AllOf(StartsWith("kernelpro: "), HasSubstr(wrong.what),
                                       HasSubstr("`kernelpro diagnose --help` says more")));
    EXPECT_THAT(finished.output, IsEmpty());
  }
}

TEST_F(Diagnose, BadInputIsNamed) {
  write(work() / "plain.txt", "no program");
  write(work() / "torn.json", "{\"v\":1,\"program\":");
  write(work() / "other.json", "{\"v\":2,\"program\":\"x\"}");
  write(work() / "lacking.json", "{\"v\":1,\"program\":\"x\",\"kernels\":[]}");
  const struct {
    Words arguments;
    std::string what;
  } cases[] = {
      {{"--", "./no_such_app"}, "--: there is no program \"./no_such_app\" that can be run"},
      {{"--", "no_such_app_anywhere"}, "there is no program \"no_such_app_anywhere\""},
      {{"--", "./plain.txt"}, "there is no program \"./plain.txt\""},
      {{"--", ""}, "there is no program \"\""},
      {{"--nsys", "lost.nsys-rep"}, "lost.nsys-rep: there is no such file"},
      {{"--profile", "lost.json"}, "No such file or directory (while reading lost.json)"},
      {{"--profile", "torn.json"}, "torn.json: this is no profile: line 1, column"},
      {{"--profile", "other.json"},
       "other.json: this is no profile: /v: a profile of version 2, expected 1"},
      {{"--profile", "lacking.json"}, "the key \"limits\" is missing"},
      {{"gemn", "a.cu"}, "did you mean gemm?"},
      {{data("wave"), "mine.cu"}, "expected a source, a shared object, or one of the task's own"},
      {{data("wave"), "plain", "--shape", "n"}, "--shape: expected AXIS=NUMBER, found \"n\""},
      {{data("wave"), "plain", "--shape", "n=7x"}, "found \"n=7x\""},
      {{data("wave"), "plain", "--shape", "n=7"},
       "--shape: 0 of the timed shapes of wave fit \"n=7\"; they are: n=300"},
  };
  for (const auto& wrong : cases) {
    Words arguments = {"diagnose"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const Finished finished = kernelpro(arguments);
    expect_exit(finished, 2);
    EXPECT_THAT(finished.errors, HasSubstr(wrong.what));
  }
  const Json error = json({"diagnose", "--profile", "lost.json"}, "cli_diagnose.json", 2);
  EXPECT_EQ(error["error"]["kind"], "bad_input");
}

TEST_F(Diagnose, AShapeIsOneOfThoseThatAreTimedOnCuda) {
  const Finished finished = kernelpro({"diagnose", "gemm", "naive-cuda", "--shape", "m=224"});
  expect_exit(finished, 2);
  EXPECT_THAT(finished.errors,
              HasSubstr("--shape: 0 of the timed shapes of gemm fit \"m=224\"; they are: "
                        "k=2048 m=2048 n=2048; k=2027 m=2011 n=1999"));
  let_worker_say(error_line(1, make_error(ErrorKind::environment, "there is no GPU")));
  const Finished asked_for = with_that_worker(
      {"diagnose", KERNELPRO_SOURCE_DIR "/tasks/gemm", "naive-cuda", "--shape", "m=2048"});
  expect_exit(asked_for, 5);
  EXPECT_THAT(asked_for.errors, HasSubstr("there is no GPU")) << "it gets as far as the worker";
}

TEST_F(Diagnose, TheRealWorkerDiagnosesASavedProfileAnywhere) {
  write(work() / "profile.json", to_json(sample_profile()).dump());
  const Json again = json({"diagnose", "--profile", "profile.json"}, "cli_diagnose.json", 0);
  EXPECT_EQ(again["profile"], to_json(sample_profile()));
  ASSERT_EQ(again["diagnosis"]["kernels"].size(), 1U);
  EXPECT_EQ(again["diagnosis"]["kernels"][0]["kernel"], "scale(float*)");
  const Finished text = kernelpro({"diagnose", "--profile", "profile.json", "--raw"});
  expect_exit(text, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("counters not read: the driver denies them"),
                                 HasSubstr("dram_use"), HasSubstr("missing  tensor_use")));
}

TEST_F(Diagnose, WithoutAGpuAProgramThatEndsAtOnceLeavesNothingToSay) {
  if (fs::exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "there is a GPU";
  }
  const Json error =
      checked_json(kernelpro({"diagnose", "--json", "--", "/bin/true"}), "cli_diagnose.json", 2);
  EXPECT_THAT(error["error"]["message"], HasSubstr("let it run longer"));
}

}  // namespace
}  // namespace kernelpro
