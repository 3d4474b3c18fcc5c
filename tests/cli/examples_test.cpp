// The recorded runs of examples/ once more, with neither model nor worker: the same tree comes out.
#include "cli/examples.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::HasSubstr;
using ::testing::Not;

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
  const Finished finished = kernelpro(example_command(GetParam()));
  expect_exit(finished, 0);
  EXPECT_THAT(finished.errors, Not(HasSubstr("worded otherwise")));
  const Json recorded = Json::parse(content_of(folder() / "report.json"));
  const std::string run = recorded["run"];
  if (fs::exists(folder() / "resumed")) {
    Words more = {"resume", run};
    for (const std::string& option : example_words(GetParam(), "resumed")) {
      more.push_back(option);
    }
    const Finished resumed = kernelpro(more);
    expect_exit(resumed, 0);
    EXPECT_THAT(resumed.errors, Not(HasSubstr("worded otherwise")));
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

INSTANTIATE_TEST_SUITE_P(All, Examples, ::testing::Values("option_prices_cpu", "gemm_cuda"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace kernelpro
