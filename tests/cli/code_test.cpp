// `kernelpro code`: sources indexed, searched and read.
#include <future>

#include "cli/examples.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Code : public Cli {
 protected:
  Code() {
    write(work() / "lib/include/pipeline.hpp",
          "// Waits for a barrier.\nstruct PipelineTmaAsync {\n  void consumer_wait() {}\n};\n");
    write(work() / "lib/examples/tma_copy.cu",
          "// How a pipeline of TMA copies is used.\nint main() {\n  tma_copy();\n}\n");
  }
};

TEST_F(Code, IsIndexedSearchedAndRead) {
  const Json indexed = json({"code", "index", "lib"}, "cli_code_index.json", 0);
  EXPECT_EQ(indexed["folders"][0]["read"], 2);
  EXPECT_EQ(indexed["with_symbols"], true);
  const Json again = json({"code", "index"}, "cli_code_index.json", 0);
  EXPECT_EQ(again["folders"][0]["read"], 0);
  const Json found = json({"code", "search", "copies", "by", "TMA"}, "cli_code_search.json", 0);
  EXPECT_EQ(found["hits"][0]["file"], "lib/examples/tma_copy.cu");
  EXPECT_EQ(found["hits"][1]["file"], "lib/include/pipeline.hpp");
  const Json symbols = json({"code", "symbol", "PipelineTmaAsync"}, "cli_code_symbol.json", 0);
  EXPECT_EQ(symbols["symbols"][0]["lines"], Json({2, 4}));
  const Json read = json({"code", "read", "pipeline.hpp:2-3"}, "cli_code_read.json", 0);
  EXPECT_EQ(read["text"], "struct PipelineTmaAsync {\n  void consumer_wait() {}\n");
  const Finished text = kernelpro({"code", "search", "consumer", "wait"});
  expect_exit(text, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("lib/include/pipeline.hpp:"),
                                 HasSubstr("     3   void consumer_wait() {}")));
}

TEST_F(Code, IsTakenOutAgain) {
  expect_exit(kernelpro({"code", "index", "lib"}), 0);
  const Finished forgotten = kernelpro({"code", "index", "--forget", "lib"});
  expect_exit(forgotten, 0);
  EXPECT_EQ(forgotten.output, "lib: forgotten\n");
  EXPECT_THAT(kernelpro({"code", "search", "tma"}).output, HasSubstr("no indexed file has any"));
  const Finished unknown = kernelpro({"code", "index", "--forget", "lib"});
  expect_exit(unknown, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("lib: is not indexed"));
}

TEST_F(Code, ThatIsNotThereIsSaidAndChangesNothing) {
  const Finished none = kernelpro({"code", "search", "tma"});
  expect_exit(none, 2);
  EXPECT_THAT(none.errors, HasSubstr("no code is indexed yet"));
  const Finished missing = kernelpro({"code", "index", "lib", "nowhere"});
  expect_exit(missing, 2);
  EXPECT_THAT(missing.errors, HasSubstr("nowhere: cannot be read as a folder"));
  EXPECT_FALSE(fs::exists(work() / ".kernelpro"));
  // One that was there before: what was read of it stays.
  expect_exit(kernelpro({"code", "index", "lib"}), 0);
  fs::rename(work() / "lib", work() / "elsewhere");
  const Finished gone = kernelpro({"code", "index"});
  expect_exit(gone, 0);
  EXPECT_THAT(gone.output, AllOf(HasSubstr("No such file"), HasSubstr("what was read of it before "
                                                                      "stays")));
  EXPECT_THAT(kernelpro({"code", "search", "tma"}).output, HasSubstr("lib/examples/tma_copy.cu"));
  const Finished lines = kernelpro({"code", "read", "tma_copy.cu:9-12"});
  expect_exit(lines, 2);
  EXPECT_THAT(lines.errors, HasSubstr("tma_copy.cu:9-12: has 4 lines"));
}

TEST_F(Code, WithoutCtagsIsFoundByWords) {
  fs::create_directories(work() / "bin");
  set("PATH", (work() / "bin").string());
  const Finished indexed = kernelpro({"code", "index", "lib"});
  expect_exit(indexed, 0);
  EXPECT_THAT(indexed.errors, HasSubstr("universal-ctags is not installed"));
  EXPECT_THAT(indexed.output, HasSubstr("2 files, 0 symbols"));
  EXPECT_THAT(kernelpro({"code", "search", "consumer"}).output, HasSubstr("pipeline.hpp"));
  EXPECT_THAT(kernelpro({"code", "symbol", "PipelineTmaAsync"}).output,
              HasSubstr("nothing of that name"));
}

TEST_F(Code, IsIndexedByTwoAtOnce) {
  const auto index = [this] { return kernelpro({"code", "index", "lib"}); };
  std::future<Finished> other = std::async(std::launch::async, index);
  expect_exit(index(), 0);
  expect_exit(other.get(), 0);
  const Json indexed = json({"code", "index"}, "cli_code_index.json", 0);
  EXPECT_EQ(indexed["folders"].size(), 1U);
  EXPECT_EQ(indexed["folders"][0]["files"], 2);
}

TEST_F(Code, OfWinnersIsIndexed) {
  expect_exit(kernelpro(example_command("option_prices_cpu")), 0);
  const Json indexed = json({"code", "index", "--winners"}, "cli_code_index.json", 0);
  ASSERT_EQ(indexed["folders"][0]["files"], 1);
  const Json found = json({"code", "search", "kp_launch"}, "cli_code_search.json", 0);
  EXPECT_THAT(found["hits"][0]["file"].get<std::string>(),
              ::testing::MatchesRegex("winners/option_prices-1/[0-9]+\\.cpp"));
  EXPECT_EQ(found["hits"][0]["kind"], "example");
}

TEST_F(Code, ThatModelsLearnedFromIsToldWithTheirKernel) {
  write(work() / "lib/examples/vector_loop.cpp",
        "// A parallel loop over options, vectorized, with exp and log of the prices.\n"
        "void parallel_vector_loop(const float* prices);\n");
  expect_exit(kernelpro({"code", "index", "lib"}), 0);
  expect_exit(kernelpro(example_command("option_prices_cpu")), 0);
  const Json shown = json({"show", "option_prices-1", "1"}, "cli_show.json", 0);
  ASSERT_FALSE(shown["node"]["learned_from"].empty()) << shown["node"].dump(2);
  const std::string place = shown["node"]["learned_from"][0];
  EXPECT_THAT(place, ::testing::StartsWith("lib/"));
  EXPECT_THAT(kernelpro({"show", "option_prices-1", "1"}).output,
              HasSubstr("  learned    from " + place + "\n"));
}

}  // namespace
}  // namespace kernelpro
