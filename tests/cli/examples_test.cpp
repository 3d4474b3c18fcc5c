// The recorded runs of examples/ once more, with neither model nor worker: the same tree comes out.
#include "cli/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::HasSubstr;

class Examples : public Cli, public ::testing::WithParamInterface<std::string> {
 protected:
  [[nodiscard]] static fs::path folder() {
    return fs::path(KERNELPRO_SOURCE_DIR) / "examples" / GetParam();
  }

  // The options of the recorded run, a word a line.
  [[nodiscard]] static Words options() {
    Words words;
    std::istringstream lines(content_of(folder() / "options"));
    for (std::string line; std::getline(lines, line);) {
      words.push_back(line);
    }
    return words;
  }
};

TEST_P(Examples, GiveTheSameTreeAgain) {
  Words words = {"optimize"};
  for (const std::string& option : options()) {
    words.push_back(option);
  }
  words.insert(words.end(), {"--llm", "replay:" + (folder() / "transcript.jsonl").string(),
                             "--workers", "replay:" + (folder() / "results.jsonl").string()});
  const Finished finished = kernelpro(words);
  expect_exit(finished, 0);
  // They were recorded before planners were told what is under way beside them.
  EXPECT_THAT(finished.errors, HasSubstr("would now be worded otherwise than when they were"));
  const Json recorded = Json::parse(content_of(folder() / "report.json"));
  const std::string run = recorded["run"];
  const Json again = json({"report", run}, "cli_report.json", 0);
  for (const char* const key :
       {"evaluations", "verdicts", "unwritten", "duplicates", "best", "progress", "moves"}) {
    EXPECT_EQ(again[key], recorded[key]) << key;
  }
  EXPECT_GE(again["evaluations"], 12);
  EXPECT_EQ(again["llm"]["answered_by"], recorded["llm"]["answered_by"]);
  // A reader who has seen enough ends the command, quietly.
  const Finished piped = run_to_end(command(
      {"/bin/bash", "-c", "\"$0\" transcript " + run + " | head -c 9; exit ${PIPESTATUS[0]}",
       KERNELPRO_BIN_DIR "/kernelpro"}));
  EXPECT_EQ(piped.output.size(), 9U);
  EXPECT_EQ(piped.errors, "");
  EXPECT_EQ(piped.exit_code, 128 + SIGPIPE);
}

INSTANTIATE_TEST_SUITE_P(All, Examples, ::testing::Values("attention_cpu", "gemm_cuda"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace kernelpro
