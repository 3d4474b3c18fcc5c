// The recorded runs of examples/ once more, with neither model nor worker: the same tree comes out.
#include "cli/examples.hpp"

#include <set>

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
class Examples : public Cli, public ::testing::WithParamInterface<std::string> {
 protected:
  [[nodiscard]] static fs::path folder() { return example_folder(GetParam()); }

  [[nodiscard]] static Words moves_that_passed(const Json& report) {
    Words moves;
    for (const Json& move : report["moves"]) {
      if (move["passed"] > 0) {
        moves.push_back(move["move"]);
      }
    }
    return moves;
  }
};

TEST_P(Examples, GiveTheSameTreeAgain) {
  expect_exit(kernelpro(example_command(GetParam())), 0);
  const Json recorded = Json::parse(content_of(folder() / "report.json"));
  const std::string run = recorded["run"];
  if (fs::exists(folder() / "resumed")) {
    Words more = {"resume", run};
    for (const std::string& option : example_words(GetParam(), "resumed")) {
      more.push_back(option);
    }
    expect_exit(kernelpro(more), 0);
  }
  const Json again = json({"report", run}, "cli_report.json", 0);
  for (const char* const key :
       {"evaluations", "verdicts", "unwritten", "duplicates", "best", "progress", "moves"}) {
    EXPECT_EQ(again[key], recorded[key]) << key;
  }
  EXPECT_GE(again["evaluations"], 12);
  EXPECT_GT(again["verdicts"].size(), 1U) << "something failed";
  EXPECT_THAT(moves_that_passed(again), ::testing::Contains("repair"));
  EXPECT_EQ(again["llm"]["answered_by"], recorded["llm"]["answered_by"]);
  // A reader who has seen enough ends the command, quietly.
  const Finished piped = run_to_end(command(
      {"/bin/bash", "-c", "\"$0\" transcript " + run + " | head -c 9; exit ${PIPESTATUS[0]}",
       KERNELPRO_BIN_DIR "/kernelpro"}));
  EXPECT_EQ(piped.output.size(), 9U);
  EXPECT_EQ(piped.errors, "");
  EXPECT_EQ(piped.exit_code, 128 + SIGPIPE);
}

// A conversation a line, with what came of it.
TEST_P(Examples, AreDataToTrainOn) {
  expect_exit(kernelpro(example_command(GetParam())), 0);
  const std::string run = Json::parse(content_of(folder() / "report.json"))["run"];
  const SchemaFile schema("chat_line.json");
  const auto conversations = [&](const Words& filters) {
    Words words = {"transcript", run, "--as", "chat"};
    words.insert(words.end(), filters.begin(), filters.end());
    std::istringstream lines(kernelpro(words).output);
    std::vector<Json> all;
    for (std::string line; std::getline(lines, line);) {
      all.push_back(Json::parse(line));
      EXPECT_EQ(schema.complaints(all.back()), "");
      EXPECT_EQ(all.back()["messages"].back()["role"], "assistant");
    }
    return all;
  };
  const std::vector<Json> all = conversations({});
  const std::vector<Json> verified = conversations({"--verified"});
  EXPECT_GT(all.size(), verified.size());
  EXPECT_FALSE(verified.empty());
  for (const Json& one : verified) {
    EXPECT_EQ(one["outcome"], "passed");
    EXPECT_EQ(one["verified"], true);
    EXPECT_EQ(one["suspect"], false);
    EXPECT_GT(one["reward"]["value"], 0);
  }
  std::set<std::string> different;
  for (const Json& one : conversations({"--unique"})) {
    EXPECT_TRUE(different.insert(one["messages"].dump()).second);
  }
  EXPECT_LE(different.size(), all.size());
}

INSTANTIATE_TEST_SUITE_P(All, Examples, ::testing::Values("option_prices_cpu", "gemm_cuda"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace kernelpro
