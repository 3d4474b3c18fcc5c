// The suite over KernelBench problems, with real PyTorch on the CPU.
#include "cli/running.hpp"
#include "coordinator/report/suite_records.hpp"
#include "coordinator/suite/suite_json.hpp"
#include "support/torch.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace kernelpro::testing;

std::string elementwise(const std::string& forward) {
  return problem_text("    def forward(self, x):\n        return " + forward + "\n",
                      "[torch.randn(8, 500)]");
}

// A candidate that makes `value` of each x[i].
std::string elementwise_source(const std::string& value) {
  return "#include \"kernelpro/candidate.h\"\n"
         "int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {\n"
         "  const float* x = static_cast<const float*>(tensors[0].data);\n"
         "  float* y = static_cast<float*>(tensors[1].data);\n"
         "  const int64_t n = tensors[0].shape[0] * tensors[0].shape[1];\n"
         "  for (int64_t i = 0; i < n; ++i) y[i] = " +
         value + ";\n  return 0;\n}\n";
}

class BenchFiles : public Cli {
 protected:
  void add_problem(const std::string& name, const std::string& text) const {
    write(work() / "kb/KernelBench" / name, text);
  }

  // `kernelpro bench kernelbench --kernelbench kb MORE`.
  [[nodiscard]] static Words bench(const Words& more) {
    Words words = {"bench", "kernelbench", "--kernelbench", "kb", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  [[nodiscard]] std::vector<Json> lines(const std::string& file = "kernelbench.jsonl") const {
    std::vector<Json> out;
    std::istringstream text(content_of(work() / file));
    for (std::string line; std::getline(text, line);) {
      out.push_back(Json::parse(line));
    }
    return out;
  }
};

class Bench : public BenchFiles {
 protected:
  void SetUp() override { SKIP_WITHOUT_TORCH(); }
};

// What of `list` has `value` at `key`.
Json with(const Json& list, const std::string& key, const Json& value) {
  for (const Json& one : list) {
    if (one[key] == value) {
      return one;
    }
  }
  return {};
}

TEST_F(Bench, BaselinesAreMeasuredOnceWhateverBecomesOfOneProblem) {
  add_problem("level1/1_Relu.py", elementwise("torch.relu(x)"));
  add_problem("level1/2_Tiny.py", elementwise("x * 1e-12"));
  add_problem("level2/3_Deadly.py", elementwise("__import__('os').abort()"));
  add_problem("level2/4_Dropout.py", elementwise("torch.dropout(x, 0.5, True)"));
  const Json first = json(bench({"--levels", "1,2"}), "cli_bench_kernelbench.json", 0);
  EXPECT_EQ(first["with_candidates"], false);
  const Json all = with(first["groups"], "level", nullptr)["baselines"];
  EXPECT_EQ(all["problems"], 4);
  EXPECT_EQ(all["measured"], 3);
  EXPECT_EQ(all["degenerate"], 1);
  EXPECT_EQ(all["refused"], 1);
  EXPECT_EQ(all["failed"], 1);
  EXPECT_GT(all["tf32_gain"], 0);
  EXPECT_THAT(with(first["problems"], "problem", 3)["failed"].get<std::string>(),
              HasSubstr("was ended by signal 6"));
  EXPECT_THAT(with(first["problems"], "problem", 4)["refused"].get<std::string>(),
              HasSubstr("random"));
  EXPECT_GE(with(first["problems"], "problem", 1)["times"]["eager-fp32"].size(), 3U);

  const std::vector<Json> kept = lines();
  ASSERT_EQ(kept.size(), 5U);
  EXPECT_EQ(kept[0]["backend"], "cpu");
  EXPECT_TRUE(kept[1]["described"].is_object());
  const Finished again = kernelpro(bench({"--levels", "1,2", "--verbose"}));
  expect_exit(again, 0);
  EXPECT_EQ(lines(), kept);
  EXPECT_THAT(again.output, AllOf(HasSubstr("4 problems\n"), HasSubstr("over all"),
                                  HasSubstr("1 degenerate: 1_2 (zeros pass"), HasSubstr("1_Relu"),
                                  HasSubstr("4_Dropout")));
  // The file alone is enough to see it.
  const Finished shown = kernelpro({"bench", "kernelbench", "--verbose"});
  expect_exit(shown, 0);
  EXPECT_EQ(shown.output, again.output);
  // A part of it.
  const Json part =
      json(bench({"--levels", "1", "--problems", "1"}), "cli_bench_kernelbench.json", 0);
  EXPECT_EQ(part["problems"].size(), 1U);
  // Another text is another problem.
  add_problem("level1/1_Relu.py", elementwise("torch.relu(x) + 1"));
  expect_exit(kernelpro(bench({"--levels", "1,2"})), 0);
  const std::vector<Json> more = lines();
  ASSERT_EQ(more.size(), 6U);
  EXPECT_EQ(more[5]["name"], "1_Relu");
  EXPECT_NE(more[5]["problem_hash"], kept[1]["problem_hash"]);
}

TEST_F(Bench, CandidatesAreJudgedAndCounted) {
  add_problem("level1/1_Relu.py", elementwise("torch.relu(x)"));
  add_problem("level1/2_Double.py", elementwise("x * 2"));
  add_problem("level1/3_Minus.py", elementwise("-x"));
  add_problem("level1/4_Dropout.py", elementwise("torch.dropout(x, 0.5, True)"));
  write(work() / "mine/1_1.cpp", elementwise_source("x[i] > 0 ? x[i] : 0"));
  write(work() / "mine/1_2.cpp", elementwise_source("x[i] * 2.01F"));
  write(work() / "mine/1_4.cpp", elementwise_source("x[i]"));
  const Words words =
      bench({"--levels", "1", "--candidates", "mine", "--timing", "0.01", "--accept-suspect"});
  const Json first = json(words, "cli_bench_kernelbench.json", 0);
  EXPECT_EQ(first["with_candidates"], true);
  const Json& column = first["groups"][0]["columns"][0];
  EXPECT_EQ(column["problems"], 4);
  EXPECT_EQ(column["correct"], 1) << first.dump(1);
  EXPECT_EQ(column["fast_0"], 0.25);
  EXPECT_EQ(first["groups"][0]["columns"][1]["problems"], 3);
  EXPECT_EQ(with(first["remarks"], "what", "no candidate")["problems"], Json::array({"1_3"}));
  EXPECT_EQ(with(first["remarks"], "what", "incorrect")["problems"], Json::array({"1_2"}));
  EXPECT_EQ(with(first["remarks"], "what", "not judged")["problems"], Json::array({"1_4"}));
  const Json right = with(first["problems"], "problem", 1)["candidate"];
  EXPECT_EQ(right["outcome"], "passed");
  EXPECT_GT(right["time_ns"], 0);
  EXPECT_GT(right["speedup"], 0);

  // Only what changed is looked at again; one that was taken away counts no longer.
  const std::vector<Json> kept = lines();
  ASSERT_EQ(kept.size(), 5U);
  write(work() / "mine/1_4.cpp", elementwise_source("x[i] * 2"));
  fs::remove(work() / "mine/1_1.cpp");
  const Finished text = kernelpro(words);
  expect_exit(text, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("degenerate removed"), HasSubstr("fast_1.5"),
                                 HasSubstr("2 no candidate: 1_1, 1_3\n"),
                                 HasSubstr("1 incorrect: 1_2 ("), HasSubstr("1 refused: 1_4 (")));
  const std::vector<Json> more = lines();
  ASSERT_EQ(more.size(), 7U);
  EXPECT_EQ(more[5]["problem"], 1);
  EXPECT_FALSE(more[5].contains("candidate"));
  EXPECT_EQ(more[5]["times"], kept[1]["times"]);
  EXPECT_EQ(more[6]["problem"], 4);
  EXPECT_NE(more[6]["candidate"]["source_hash"], kept[4]["candidate"]["source_hash"]);
}

TEST_F(Bench, ARunThatWasEndedGoesOnWhereItWas) {
  add_problem("level1/1_Relu.py", elementwise("torch.relu(x)"));
  // Says that it was reached, and waits for a file that the test makes.
  const fs::path reached = work() / "reached";
  const fs::path gate = work() / "gate";
  add_problem("level1/2_Waiting.py", "import os, time\nopen('" + reached.string() +
                                         "', 'w').close()\nwhile not os.path.exists('" +
                                         gate.string() + "'):\n    time.sleep(0.05)\n" +
                                         elementwise("x * 2"));
  const Command command = Cli::command(with_program(bench({"--levels", "1"})));
  const auto waits = [&] { return becomes_true([&] { return fs::exists(reached); }); };
  {
    Running running(command, work());
    ASSERT_TRUE(waits());
    running.signal(SIGINT);
    EXPECT_EQ(running.end(), 130);
    EXPECT_THAT(running.output(), HasSubstr("1 problem\n"));
    EXPECT_EQ(running.errors(),
              "kernelpro: interrupted; 1 of 2 problems are done, the same command goes on\n");
  }
  const std::vector<Json> first = lines();
  ASSERT_EQ(first.size(), 2U);
  fs::remove(reached);
  {
    Running running(command, work());
    ASSERT_TRUE(waits());
    const Finished other = kernelpro(bench({"--levels", "1"}));
    expect_exit(other, 5);
    EXPECT_THAT(other.errors, HasSubstr("another kernelpro writes it"));
    running.signal(SIGKILL);
    EXPECT_EQ(running.end(), -SIGKILL);
  }
  write(work() / "kernelbench.jsonl", content_of(work() / "kernelbench.jsonl") + "{\"level\": 1, ");
  write(gate, "");
  expect_exit(kernelpro(bench({"--levels", "1"})), 0);
  const std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1], first[1]);
  EXPECT_EQ(all[2]["name"], "2_Waiting");
  EXPECT_FALSE(all[2].contains("failed")) << all[2].dump(1);
}

TEST_F(Bench, AFileOfAnotherMachineIsRefused) {
  add_problem("level1/1_Relu.py", elementwise("torch.relu(x)"));
  SuiteHeader header;
  header.machine = "Abacus";
  header.backend = Backend::cpu;
  header.torch = "0.1";
  write(work() / "kernelbench.jsonl", to_json(header).dump() + "\n");
  const Finished refused = kernelpro(bench({"--levels", "1"}));
  expect_exit(refused, 2);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("machine: Abacus, now "),
                                    HasSubstr("PyTorch: 0.1, now "), HasSubstr("--into")));
}

TEST_F(Bench, APyTorchWithoutCompileIsNamed) {
  if (!python_with_torch()->torch.starts_with("1.")) {
    GTEST_SKIP() << "this PyTorch has torch.compile";
  }
  add_problem("level1/1_Relu.py", elementwise("torch.relu(x)"));
  const Finished finished = kernelpro(bench({"--levels", "1", "--compile"}));
  expect_exit(finished, 5);
  EXPECT_THAT(finished.errors, HasSubstr("has no torch.compile: leave out --compile"));
}

TEST_F(BenchFiles, APythonWithoutPyTorchIsNamed) {
  add_problem("level1/1_Relu.py", elementwise("torch.relu(x)"));
  set("KERNELPRO_PYTHON", "/bin/false");
  const Finished finished = kernelpro(bench({"--levels", "1"}));
  expect_exit(finished, 5);
  EXPECT_THAT(finished.errors, AllOf(HasSubstr("/bin/false"), HasSubstr("has no PyTorch")));
  EXPECT_FALSE(fs::exists(work() / "kernelbench.jsonl"));
}

TEST_F(BenchFiles, WhatIsWrongWithTheRequestIsSaid) {
  add_problem("level1/1_Relu.py", "# nothing\n");
  fs::create_directories(work() / "empty");
  write(work() / "odd/1_9.cpp", "int x;\n");
  const struct {
    Words arguments;
    std::string said;
  } cases[] = {
      {bench({}), "it has no level 2"},
      {bench({"--levels", "one"}), "--levels: expected numbers such as"},
      {bench({"--levels", "1", "--problems", "1,4-5"}), "no chosen level has problem 4, 5"},
      {bench({"--levels", "1", "--candidates", "none"}), "there is no such folder of candidates"},
      {bench({"--levels", "1", "--candidates", "empty"}), "it has no candidate"},
      {bench({"--levels", "1", "--candidates", "odd"}), "level 1 has no problem 9"},
      {{"bench", "kernelbench", "--kernelbench", "nowhere"}, "there is no such folder"},
      {{"bench", "kernelbench", "--kernelbench", "empty"}, "name a checkout of KernelBench"},
      {{"bench", "kernelbench"}, "No such file or directory (while reading kernelbench.jsonl)"},
      {{"bench", "kernelbench", "--into", "odd/1_9.cpp"}, "it does not hold results"},
      {{"bench", "kernelbench", "--against", "odd/1_9.cpp", "--into", "odd/1_9.cpp"},
       "it does not hold results"},
  };
  for (const auto& wrong : cases) {
    const Finished finished = kernelpro(wrong.arguments);
    expect_exit(finished, 2);
    EXPECT_THAT(finished.errors, HasSubstr(wrong.said));
  }
  EXPECT_EQ(json(bench({"--levels", "7"}), "cli_bench_kernelbench.json", 2)["error"]["kind"],
            "bad_input");
  for (const Words& usage : {Words{"bench"}, Words{"bench", "kernelbench", "--compile"},
                             bench({"--against", "x.jsonl"})}) {
    expect_exit(kernelpro(usage), 1);
  }
}

class Against : public BenchFiles {
 protected:
  // Problems 1, 2, … of a level solved in those times.
  void write_suite(const std::string& file, int level, const std::vector<double>& times,
                   const std::string& machine = "here") const {
    SuiteHeader header;
    header.machine = machine;
    header.backend = Backend::cpu;
    std::string text = to_json(header).dump() + "\n";
    int number = 0;
    for (const double time : times) {
      text += to_json(solved_record({level, ++number}, time)).dump() + "\n";
    }
    write(work() / file, text);
  }

  [[nodiscard]] static Words against(const std::string& file) {
    return {"bench", "kernelbench", "--into", "mine.jsonl", "--against", file};
  }
};

TEST_F(Against, TwoFilesAreComparedProblemByProblem) {
  write_suite("mine.jsonl", 1, {10, 20, 30, 40, 50, 60, 70});
  write_suite("theirs.jsonl", 1, {30, 60, 90, 120, 150, 180}, "there");
  write_suite("apart.jsonl", 2, {10});
  const Finished text = kernelpro(against("theirs.jsonl"));
  expect_exit(text, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("mine.jsonl is 3.000 times as fast as theirs.jsonl"),
                                 HasSubstr("faster 6, slower 0, same 0; sign test p = 0.031"),
                                 HasSubstr("measured elsewhere: machine: there, now here\n")));
  const Json same = json(against("mine.jsonl"), "cli_bench_kernelbench.json", 0);
  EXPECT_EQ(same["difference_shown"], false);
  EXPECT_EQ(same["same"], 7);
  EXPECT_THAT(kernelpro(against("mine.jsonl")).output, HasSubstr("no difference can be shown"));
  const Finished apart = kernelpro(against("apart.jsonl"));
  expect_exit(apart, 2);
  EXPECT_THAT(apart.errors, HasSubstr("no problem in common"));
}

}  // namespace
}  // namespace kernelpro
