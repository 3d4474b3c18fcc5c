// Runs whose candidates a model writes. The test is the model: it answers the requests of a batch.
#include "cli/batch.hpp"
#include "common/wire/bundle_line.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class LlmRun : public BatchCli {
 protected:
  [[nodiscard]] Finished optimize(Words more) const {
    more.insert(more.end(), {"-n", "3", "--llm", "batch:questions"});
    return optimize_as(std::move(more));
  }

  [[nodiscard]] Finished optimize_as(const Words& more) const {
    Words words = {"optimize", data("wave"), "--timing", "0.02", "--accept-suspect"};
    words.insert(words.end(), more.begin(), more.end());
    return kernelpro(words);
  }

  // Where models are all that it waits for: the baseline's verdict is there.
  [[nodiscard]] Finished optimize_recorded(Words more) const {
    const Words workers = recorded_workers();
    more.insert(more.end(), workers.begin(), workers.end());
    more.insert(more.end(), {"--batch", "2"});
    return optimize(std::move(more));
  }

  // Until the run does not wait any more.
  Finished answer_to_the_end(Finished last, const Answer& model) const {
    for (int rounds = 0; last.exit_code == 4; ++rounds) {
      EXPECT_LT(rounds, 30);
      if (rounds >= 30) {
        break;
      }
      answer(model);
      last = kernelpro({"resume", "wave-1"});
    }
    return last;
  }

  static std::string plan() {
    return R"(Here it is: {"move": "optimize", "plan": "let the compiler optimize", )"
           R"("predicted_gain": 5, "why": "it is built without"})";
  }

  static std::string fenced(const std::string& source) { return "```cpp\n" + source + "```\n"; }

  // Right, and each time another one.
  static std::string good_source(const std::string& tag) {
    return "// kp:options -O2\n// " + tag + "\n" + content_of(data("wave") + "/baseline.cpp") +
           "extern \"C\" int kp_tag_" + std::to_string(std::hash<std::string>()(tag) % 1000) +
           "() { return 1; }\n";
  }

  // Plans, and writes good sources.
  static std::string good_model(const std::string& role, const Json& request) {
    if (role == "planner") {
      return plan();
    }
    return fenced(good_source(request["custom_id"]));
  }

  [[nodiscard]] Json report() const { return json({"report", "wave-1"}, "cli_report.json", 0); }

  void expect_ended(const Finished& last, int evaluations) const {
    const Json end = report();
    expect_exit(last, exit_code_of_run(end));
    EXPECT_EQ(end["state"], "finished");
    EXPECT_EQ(end["evaluations"], evaluations);
  }
};

TEST_F(LlmRun, GoesFromBatchToBatchUntilTheBestIsConfirmed) {
  const Finished begun = optimize({});
  expect_exit(begun, 4);
  EXPECT_THAT(begun.errors,
              AllOf(HasSubstr("questions/requests.jsonl"), HasSubstr("`kernelpro resume wave-1`")));
  EXPECT_THAT(requests(), SizeIs(2)) << "as many as may be in flight";
  expect_exit(answer_to_the_end(begun, good_model), 0);
  const Json end = report();
  EXPECT_EQ(end["state"], "finished");
  EXPECT_EQ(end["evaluations"], 3);
  EXPECT_GT(end["best"]["speedup"], 1);
  EXPECT_EQ(end["llm"]["answered_by"]["a test"], end["llm"]["answered"]);
  EXPECT_EQ(end["llm"]["input_tokens"], 1000 * end["llm"]["answered"].get<int>());
  const Finished shown = kernelpro({"show", "wave-1", "1"});
  EXPECT_THAT(shown.output, AllOf(HasSubstr("1.planner.1"), HasSubstr("1.coder.1"),
                                  HasSubstr("let the compiler optimize"), HasSubstr("a test")));
}

TEST_F(LlmRun, AFailedCandidateGoesToTheFixerWithTheCompilersWords) {
  bool fixed = false;
  const Answer model = [&fixed](const std::string& role, const Json& request) {
    if (role == "coder") {
      return fenced(
          "#include \"kernelpro/candidate.h\"\nint kp_launch(const kp_context*, const "
          "kp_tensor*, int32_t) { return missing_name; }\nconst char* tag = \"" +
          request["custom_id"].get<std::string>() + "\";\n");
    }
    if (role == "fixer") {
      fixed = true;
      EXPECT_THAT(text_of(request), HasSubstr("missing_name"));
      EXPECT_THAT(text_of(request), HasSubstr("not declared"));
    }
    return good_model(role, request);
  };
  const Finished end =
      answer_to_the_end(optimize_as({"-n", "6", "--llm", "batch:questions"}), model);
  EXPECT_THAT(end.exit_code, ::testing::AnyOf(0, 3)) << end.errors;
  EXPECT_TRUE(fixed);
  EXPECT_GT(report()["verdicts"]["build_failed"], 0);
  EXPECT_GT(report()["verdicts"]["passed"], 0);
}

TEST_F(LlmRun, WhatIsNoCodeIsAskedForAgainOnceAndThenSaidSo) {
  std::size_t asked = 0;
  const Answer model = [&asked](const std::string& role, const Json& /*request*/) {
    asked += role == "coder" ? 1 : 0;
    return role == "planner" ? plan() : "I would rather not show any code.";
  };
  const Finished end = answer_to_the_end(optimize_recorded({}), model);
  expect_exit(end, 3);
  const Json after = report();
  EXPECT_EQ(after["evaluations"], 0);
  EXPECT_GE(after["unwritten"], 5);
  EXPECT_GE(asked, 2 * after["unwritten"].get<std::size_t>());
  EXPECT_THAT(end.output, HasSubstr("times in a row"));
  const Finished why = kernelpro({"why", "wave-1", "1"});
  EXPECT_THAT(why.output, HasSubstr("mishap: "));
}

TEST_F(LlmRun, IsReplayedWithNeitherModelNorWorker) {
  Finished last = optimize({"--workers", "bundle:jobs", "--batch", "2"});
  std::string results;
  for (int rounds = 0; last.exit_code == 4 && rounds < 40; ++rounds) {
    if (last.errors.find("requests.jsonl") != std::string::npos) {
      answer(good_model);
    } else {
      expect_exit(
          run_to_end(command({KERNELPRO_BIN_DIR "/kernelpro-worker", "run", "jobs", "jobs.out"})),
          0);
      results += content_of(work() / "jobs.out");
    }
    last = kernelpro({"resume", "wave-1"});
  }
  expect_ended(last, 3);
  write(work() / "results.jsonl", results);
  expect_exit(kernelpro({"transcript", "wave-1", "--into", "calls.jsonl"}), 0);
  const SchemaFile schema("transcript_line.json");
  for (const std::string& call : whole_lines(content_of(work() / "calls.jsonl"))) {
    EXPECT_EQ(schema.complaints(Json::parse(call)), "");
  }
  const Finished again = kernelpro(
      {"optimize", data("wave"), "--timing", "0.02", "--accept-suspect", "-n", "3", "--batch", "2",
       "--llm", "replay:calls.jsonl", "--workers", "replay:results.jsonl", "--store", "again"});
  expect_exit(again, last.exit_code);
  EXPECT_THAT(again.errors, Not(HasSubstr("worded otherwise")));
  const Json first = report();
  const Json second = json({"report", "wave-1", "--store", "again"}, "cli_report.json", 0);
  for (const char* const key : {"evaluations", "verdicts", "best", "progress", "moves"}) {
    EXPECT_EQ(first[key], second[key]) << key;
  }
}

TEST_F(LlmRun, AnswersAreTakenWhileResultsAreStillAwaited) {
  // Sizes of the baseline are tried while models are asked: both are waited for at once.
  const fs::path task = work() / "tunable";
  fs::copy(data("wave"), task, fs::copy_options::recursive);
  write(task / "baseline.cpp", content_of(data("wave") + "/baseline.cpp") +
                                   "// kp:tune STEP = 1 2 3 4\nconstexpr int STEP = 1;\n"
                                   "extern \"C\" int kp_step() { return STEP; }\n");
  Finished last = kernelpro({"optimize", task, "--timing", "0.02", "--accept-suspect", "-n", "4",
                             "--llm", "batch:questions", "--workers", "bundle:jobs", "--batch", "3",
                             "--preset", "steady", "--no-sweep"});
  int both = 0;
  for (int rounds = 0; last.exit_code == 4 && rounds < 40; ++rounds) {
    const bool results = last.errors.find("kernelpro-worker run") != std::string::npos;
    if (last.errors.find("requests.jsonl") == std::string::npos) {
      expect_exit(
          run_to_end(command({KERNELPRO_BIN_DIR "/kernelpro-worker", "run", "jobs", "jobs.out"})),
          0);
      last = kernelpro({"resume", "wave-1"});
      continue;
    }
    const int answered = report()["llm"]["answered"];
    const int asked = static_cast<int>(requests().size());
    answer(good_model);
    last = kernelpro({"resume", "wave-1"});
    EXPECT_EQ(report()["llm"]["answered"], answered + asked);
    both += results ? 1 : 0;
  }
  expect_ended(last, 4);
  EXPECT_GT(both, 0);
}

TEST_F(LlmRun, ADryRunShowsThePromptAndTheWorstCaseAndKeepsNothing) {
  const Finished shown = optimize({"--dry-run", "--price", "3/15"});
  expect_exit(shown, 0);
  EXPECT_THAT(shown.output, AllOf(HasSubstr("--- to the planner"), HasSubstr("kp_launch"),
                                  HasSubstr("at most $")));
  EXPECT_FALSE(fs::exists(folder() / "requests.jsonl"));
  EXPECT_FALSE(fs::exists(work() / ".kernelpro"));
}

TEST_F(LlmRun, ADryRunShowsTheFirstNodeWhateverThreadIsFirst) {
  const Finished shown =
      optimize_as({"--dry-run", "--json", "--batch", "12", "-n", "12", "--llm", "batch:questions"});
  expect_exit(shown, 0);
  const Json json = Json::parse(shown.output);
  EXPECT_EQ(json["request"]["model"], "any") << "as it is sent";
  EXPECT_TRUE(json["fits_budget"]);
  EXPECT_THAT(text_of({{"body", json["request"]}}), Not(HasSubstr("under way")))
      << "only those behind the first have others beside them";
  const Finished small = optimize({"--dry-run", "--llm-tokens", "1000"});
  expect_exit(small, 0);
  EXPECT_THAT(small.output, HasSubstr("1000 tokens: this call does not fit into that"));
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(LlmRun, AsManyAreAskedAtATimeAsABatchMayHave) {
  expect_exit(optimize_as({"-n", "9", "--llm", "batch:questions", "--batch", "5"}), 4);
  EXPECT_THAT(requests(), SizeIs(5));
  const Finished refused = kernelpro({"optimize", data("wave"), "--batch", "5"});
  expect_exit(refused, 2);
  EXPECT_THAT(refused.errors, HasSubstr("--in-flight"));
}

TEST_F(LlmRun, ErrorsInABatchAreToldBeforeItWaitsOn) {
  expect_exit(optimize_recorded({}), 4);
  const auto refuse = [this] {
    std::string text;
    for (const Json& request : requests()) {
      const Json body = {{"error", {{"message", "no such model"}}}};
      text += Json{{"custom_id", request["custom_id"]},
                   {"response", {{"status_code", 400}, {"body", body}}}}
                  .dump() +
              "\n";
    }
    write(folder() / "responses.jsonl", text);
    return kernelpro({"resume", "wave-1", "--quiet"});
  };
  const Finished again = refuse();
  expect_exit(again, 4);
  const std::size_t told =
      again.errors.find("wave-1: 2 answers are errors and are asked again (attempt 2 of 3): ");
  EXPECT_NE(told, std::string::npos) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("responses.jsonl:1: status 400: no such model\n"));
  EXPECT_LT(told, again.errors.find("waiting: ")) << again.errors;
  (void)refuse();
  EXPECT_THAT(refuse().errors, HasSubstr("wave-1: 2 requests are given up after 3 attempts: "));
}

TEST_F(LlmRun, AFolderThatIsLeftHoldsNoQuestionsOfTheRun) {
  expect_exit(optimize_recorded({"--model", "first"}), 4);
  const std::vector<Json> before = requests();
  EXPECT_EQ(before[0]["body"]["model"], "first");
  const Finished moved =
      kernelpro({"resume", "wave-1", "--llm", "batch:elsewhere/", "--model", "second"});
  expect_exit(moved, 4);
  EXPECT_THAT(moved.errors, HasSubstr("elsewhere/requests.jsonl into"));
  EXPECT_THAT(moved.errors, Not(HasSubstr("worded otherwise")));
  EXPECT_THAT(requests(), SizeIs(0));
  const std::vector<std::string> lines =
      whole_lines(content_of(work() / "elsewhere" / "requests.jsonl"));
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(Json::parse(lines[0])["custom_id"], before[0]["custom_id"]);
  EXPECT_EQ(Json::parse(lines[0])["body"]["model"], "second");
}

TEST_F(LlmRun, ThePromptOfANodeCanBeSeen) {
  expect_exit(optimize_recorded({}), 4);
  const Finished negative = kernelpro({"prompt", "wave-1", "-1"});
  expect_exit(negative, 1);
  EXPECT_THAT(negative.errors, HasSubstr("node: expected the number of a node, found \"-1\"\n"));
  const Finished nothing = kernelpro({"transcript", "wave-1", "--into", "calls.jsonl"});
  expect_exit(nothing, 2);
  EXPECT_THAT(nothing.errors, HasSubstr("no call of a model has been answered in it"));
  EXPECT_FALSE(fs::exists(work() / "calls.jsonl"));
  const Finished shown = kernelpro({"prompt", "wave-1", "0"});
  expect_exit(shown, 0);
  EXPECT_THAT(shown.output, AllOf(HasSubstr("--- to the planner"), HasSubstr("--- this call")));
  EXPECT_THAT(kernelpro({"prompt", "wave-1", "77"}).errors, HasSubstr("no node 77"));
}

TEST_F(LlmRun, ASpentBudgetEndsTheRunAndMoreGoesOn) {
  const Finished begun = optimize({"--llm-tokens", "100"});
  expect_exit(begun, 3);
  EXPECT_THAT(begun.output, HasSubstr("100"));
  EXPECT_EQ(report()["evaluations"], 0);
  const Finished more = kernelpro({"resume", "wave-1", "--llm-tokens", "100000000"});
  expect_exit(more, 4);
  expect_ended(answer_to_the_end(more, good_model), 3);
}

TEST_F(LlmRun, WhatCannotWorkIsSaidBeforeAnythingIsJudged) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--llm", "oracle:delphi"}, "anthropic:MODEL"},
      {{"--llm", "batch:questions", "--llm-dollars", "1"}, "--price"},
      {{"--llm", "anthropic:some-model"}, "ANTHROPIC_API_KEY"},
      {{"--llm", "replay:missing.jsonl"}, "missing.jsonl"},
      {{"--llm", "batch:/proc/x"}, "/proc/x"},
  };
  for (const auto& [words, expected] : cases) {
    const Finished refused = optimize_as(words);
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_NE(refused.exit_code, 4);
    EXPECT_THAT(refused.errors, HasSubstr(expected));
    EXPECT_FALSE(fs::exists(work() / ".kernelpro")) << words.back();
  }
  const Finished alone = kernelpro({"optimize", data("wave"), "--max-output", "100"});
  EXPECT_THAT(alone.errors, HasSubstr("need --llm"));
}

TEST_F(LlmRun, AnswersToAnotherRunAreRefusedAndNothingIsLost) {
  expect_exit(optimize({}), 4);
  std::string text;
  for (Json request : requests()) {
    request["custom_id"] = replaced(request["custom_id"], "wave-1.", "other-7.");
    text += line(request, plan()).dump() + "\n";
  }
  write(folder() / "responses.jsonl", text);
  const Finished refused = kernelpro({"resume", "wave-1"});
  expect_exit(refused, 2);
  EXPECT_THAT(refused.errors, HasSubstr("other-7"));
  answer(good_model);
  expect_ended(answer_to_the_end(kernelpro({"resume", "wave-1"}), good_model), 3);
}

}  // namespace
}  // namespace kernelpro
