// Move files: what they may say, and what is said of malformed ones.
#include "coordinator/propose/move.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "common/base/file.hpp"
#include "common/model/tunables.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string with_keys(const std::string& keys) {
  return "---\n" + keys + "---\nAdvice.\n";
}

const char* const all_keys =
    "id: block\n"
    "tier: nest\n"
    "title: Block it\n"
    "when: option target; not after block; source for (\n"
    "rewriter: peel? then register_block depth=2 site=i\n"
    "options: -O3 !-O2\n"
    "gain: 2.5\n"
    "chance: 0.25\n"
    "classes: compute latency\n";

std::string complaint(const std::string& text) {
  const Result<Move> move = parse_move(text, "x.md");
  return move ? "" : move.error().text();
}

TEST(MoveFile, SaysEverythingAboutAMove) {
  const Result<Move> move = parse_move(with_keys(all_keys), "x.md");
  ASSERT_TRUE(move) << move.error().text();
  EXPECT_EQ(move->id, "block");
  ASSERT_THAT(move->rewriters, SizeIs(2));
  EXPECT_EQ(move->rewriters[0].rewriter, "peel");
  EXPECT_TRUE(move->rewriters[0].optional);
  EXPECT_FALSE(move->rewriters[1].optional);
  EXPECT_EQ(move->rewriters[1].rewriter, "register_block");
  EXPECT_EQ(move->rewriters[1].arguments.at("depth"), "2");
  EXPECT_EQ(move->rewriters[1].arguments.at("site"), "i");
  EXPECT_THAT(move->options, ElementsAre("-O3", "!-O2"));
  EXPECT_THAT(move->classes, ElementsAre(Bottleneck::compute, Bottleneck::latency));
  EXPECT_DOUBLE_EQ(move->gain, 2.5);
  EXPECT_EQ(move->advice, "Advice.\n");
  ASSERT_THAT(move->when, SizeIs(3));
  EXPECT_EQ(move->when[1].kind, Condition::Kind::after);
  EXPECT_FALSE(move->when[1].wanted);
  EXPECT_EQ(move->when[2].value, "for (");
}

TEST(MoveFile, MaySayWhatATaskMustHave) {
  Task task;
  TensorSpec tensor;
  tensor.shape = {*Formula::parse("n")};
  task.axes = {{"n", std::nullopt}};
  task.inputs = {tensor};
  task.outputs = {tensor};
  task.timed_shapes = {{{"n", 100}}};
  task.work.flops = *Formula::parse("2*n");
  const auto fits = [&task](const std::string& when) {
    const Result<Move> move =
        parse_move(with_keys("id: x\ntier: write\ntitle: X\nwhen: " + when + "\n"), "x.md");
    EXPECT_TRUE(move) << move.error().text();
    return move && suits(*move, task, Backend::cuda);
  };
  EXPECT_FALSE(fits("task constant"));
  EXPECT_FALSE(fits("task products; source x"));
  EXPECT_TRUE(fits("not task products"));
  EXPECT_TRUE(fits("source x"));
  task.inputs.front().constant = true;
  task.work.flops = *Formula::parse("2*n*n");
  EXPECT_TRUE(fits("task constant; task products"));
  task.reference.products = 0;  // of a PyTorch module: all of them are elementwise
  EXPECT_TRUE(fits("not task products"));
  EXPECT_THAT(complaint(with_keys("when: task large\n")), HasSubstr("\"task constant\""));
}

TEST(MoveFile, AMalformedFileSaysWhereAndWhatWasExpected) {
  EXPECT_EQ(complaint("id: x\n"), "x.md:1: expected --- before the keys");
  EXPECT_EQ(complaint("---\nid: x\n"), "x.md:2: expected --- after the keys");
  EXPECT_THAT(complaint(with_keys("id: x\ncolor: red\n")),
              AllOf(HasSubstr("x.md:3: expected \"key: value\" with a key of chance, classes"),
                    HasSubstr("not \"color: red\"")));
  EXPECT_EQ(complaint(with_keys("tier: later\n")),
            "x.md:2: tier: expected one of build, pragmas, nest, tune, write, not \"later\"");
  EXPECT_EQ(complaint(with_keys("gain: much\n")),
            "x.md:2: gain: expected a number from 1 to 1000, not \"much\"");
  EXPECT_EQ(complaint(with_keys("gain: 0.5\n")),
            "x.md:2: gain: expected a number from 1 to 1000, not \"0.5\"");
  EXPECT_EQ(complaint(with_keys("when: sometimes\n")),
            "x.md:2: when: expected \"[not] option|compiler|source|after|policy|task VALUE\", not "
            "\"sometimes\"");
  EXPECT_EQ(complaint(with_keys("classes: slow\n")),
            "x.md:2: classes: expected memory, compute, latency or overhead, not \"slow\"");
  EXPECT_EQ(complaint(with_keys("rewriter: tile 32\n")),
            "x.md:2: rewriter: expected \"NAME[?] key=value … then NAME …\", not \"tile 32\"");
  EXPECT_THAT(complaint(with_keys("rewriter: tile then\n")), HasSubstr("not \"tile then\""));
  EXPECT_EQ(complaint(with_keys("tune: wildly\n")),
            "x.md:2: tune: expected \"neighbors\", not \"wildly\"");
}

TEST(MoveFile, AMoveMustBeWhole) {
  EXPECT_EQ(complaint(with_keys("id: x\n")), "x.md: missing: tier, title");
  EXPECT_EQ(complaint(with_keys("id: x\ntier: nest\ntitle: X\n")),
            "x.md: it changes nothing: expected rewriter, options, compiler or tune");
  EXPECT_EQ(complaint("---\nid: x\ntier: nest\ntitle: X\noptions: -O3\n---\n \n"),
            "x.md: expected advice for people after the second ---");
}

TEST(MoveFile, AMoveThatSomebodyHasToWriteIsAdviceAlone) {
  const std::string written = "id: x\ntier: write\ntitle: X\n";
  const Result<Move> move = parse_move(with_keys(written + "when: source __shared__\n"), "x.md");
  ASSERT_TRUE(move) << move.error().text();
  EXPECT_EQ(move->tier, written_tier);
  EXPECT_THAT(move->when, SizeIs(1));
  for (const char* key : {"rewriter: tile", "options: -O3", "compiler: g++", "tune: neighbors"}) {
    EXPECT_EQ(complaint(with_keys(written + key + "\n")),
              "x.md: a move of the tier write is advice alone: no rewriter, options, compiler or "
              "tune")
        << key;
  }
  EXPECT_EQ(complaint("---\n" + written + "---\n"),
            "x.md: expected advice for people after the second ---");
}

class ShippedMoves : public testing::TestWithParam<std::string> {
 protected:
  static fs::path folder() {
    return fs::path(KERNELPRO_SOURCE_DIR "/knowledge/moves") / GetParam();
  }
};

TEST_P(ShippedMoves, AreWellFormedAndReachEveryTier) {
  const Result<std::vector<Move>> moves = load_moves(folder());
  ASSERT_TRUE(moves) << moves.error().text();
  for (const std::string& tier : move_tiers()) {
    if (GetParam() == "cuda" && tier == "nest") {
      continue;  // No rewriter of loops reads CUDA.
    }
    EXPECT_TRUE(std::any_of(moves->begin(), moves->end(), [&tier](const Move& move) {
      return move.tier == tier;
    })) << tier;
  }
}

TEST_P(ShippedMoves, AreNamedAsTheirFiles) {
  for (const auto& entry : fs::directory_iterator(folder())) {
    const Result<std::string> text = read_file(entry.path());
    ASSERT_TRUE(text) << text.error().text();
    const Result<Move> move = parse_move(*text, entry.path().string());
    ASSERT_TRUE(move) << move.error().text();
    EXPECT_EQ(move->id, entry.path().stem().string());
  }
}

std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    out.push_back(at->str(1));
  }
  return out;
}

// All the sizes that one may write, in the form that `tune` reads.
std::vector<std::string> tunable_lines(const std::string& advice) {
  return all_matches(advice, std::regex("(// kp:tune [^`\\n]*)"));
}

std::vector<std::string> ids_in(const std::string& text) {
  return all_matches(text, std::regex("`([a-z_]+)`"));
}

TEST_P(ShippedMoves, ThatSomebodyHasToWriteSayHow) {
  const Result<std::vector<Move>> moves = load_moves(folder());
  ASSERT_TRUE(moves) << moves.error().text();
  for (const Move& move : *moves) {
    if (move.tier != written_tier) {
      continue;
    }
    SCOPED_TRACE(move.id);
    EXPECT_FALSE(move.classes.empty());
    EXPECT_GT(move.gain, 1);
    const auto lines = std::count(move.advice.begin(), move.advice.end(), '\n');
    EXPECT_GE(lines, 5);
    EXPECT_LE(lines, 40);
    for (const std::string& line : tunable_lines(move.advice)) {
      const std::string name = line.substr(11, line.find(' ', 11) - 11);
      const auto tunables = parse_tunables(line + "\nconstexpr int " + name + " = 1;\n");
      ASSERT_TRUE(tunables) << line << ": " << tunables.error().text();
      EXPECT_THAT(*tunables, SizeIs(1)) << line;
    }
  }
}

// An example is a whole candidate that a prompt can hold; none lies about that no move shows.
TEST(MoveExamples, AreWholeCandidatesThatAMoveShows) {
  constexpr std::size_t longest = 10'000;
  const Result<std::vector<Move>> moves = load_moves(KERNELPRO_SOURCE_DIR "/knowledge/moves/cuda");
  ASSERT_TRUE(moves) << moves.error().text();
  std::set<std::string> shown;
  for (const Move& move : *moves) {
    if (move.example.empty()) {
      continue;
    }
    SCOPED_TRACE(move.id);
    shown.insert(move.example);
    EXPECT_TRUE(move.example_source.starts_with("// kp:compiler nvcc\n// kp:options "));
    EXPECT_THAT(move.example_source, HasSubstr("int kp_launch("));
    EXPECT_LE(move.example_source.size(), longest);
  }
  for (const auto& entry :
       fs::directory_iterator(KERNELPRO_SOURCE_DIR "/knowledge/examples/cuda")) {
    EXPECT_TRUE(shown.contains(entry.path().filename().string())) << entry.path();
  }
}

TEST(MoveExamples, MustBeThereAndBelongToMovesThatSomebodyWrites) {
  const Result<ScratchDir> folder = ScratchDir::create("moves");
  ASSERT_TRUE(folder);
  const fs::path moves = folder->path() / "moves" / "cuda";
  fs::create_directories(moves);
  const std::string text =
      "---\nid: a\ntier: write\ntitle: A\nexample: a.cu\n---\nDo it like this.\n";
  ASSERT_TRUE(write_file_unsynced(moves / "a.md", text));
  const Result<std::vector<Move>> missing = load_moves(moves);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("examples/cuda/a.cu"));
  fs::create_directories(folder->path() / "examples" / "cuda");
  ASSERT_TRUE(write_file_unsynced(folder->path() / "examples" / "cuda" / "a.cu", "code\n"));
  const Result<std::vector<Move>> there = load_moves(moves);
  ASSERT_TRUE(there) << there.error().text();
  EXPECT_EQ(there->front().example_source, "code\n");
  const Result<Move> mechanical = parse_move(
      "---\nid: a\ntier: build\ntitle: A\noptions: -O3\nexample: a.cu\n---\nText.\n", "a.md");
  ASSERT_FALSE(mechanical);
  EXPECT_THAT(mechanical.error().text(), HasSubstr("only a move of the tier write has an example"));
}

// The table of what to write against which finding names tools and moves that there are. Those for
// processors may be moves that the playbook makes itself.
TEST(MoveDocs, NameAMoveToWriteForEveryToolOfTheDiagnosis) {
  const Result<std::vector<Move>> moves = load_moves(KERNELPRO_SOURCE_DIR "/knowledge/moves/cuda");
  ASSERT_TRUE(moves) << moves.error().text();
  const Result<std::vector<Move>> cpu_moves =
      load_moves(KERNELPRO_SOURCE_DIR "/knowledge/moves/cpu");
  ASSERT_TRUE(cpu_moves) << cpu_moves.error().text();
  const Result<std::string> docs = read_file(KERNELPRO_SOURCE_DIR "/docs/moves.md");
  ASSERT_TRUE(docs) << docs.error().text();
  for (const auto& entry :
       fs::directory_iterator(KERNELPRO_SOURCE_DIR "/src/worker/diagnose/tools")) {
    const Result<std::string> text = read_file(entry.path());
    ASSERT_TRUE(text) << text.error().text();
    if (text->find("finding.moves") == std::string::npos) {
      continue;
    }
    const std::string tool = entry.path().stem().string();
    const std::size_t row = docs->find("| `" + tool + "` |");
    ASSERT_NE(row, std::string::npos) << tool;
    std::vector<std::string> named = ids_in(docs->substr(row, docs->find('\n', row) - row));
    named.erase(named.begin());
    EXPECT_THAT(named, Not(IsEmpty())) << tool;
    for (const std::string& id : named) {
      const bool written = std::any_of(moves->begin(), moves->end(), [&id](const Move& move) {
        return move.id == id && move.tier == written_tier;
      });
      EXPECT_TRUE(written || std::ranges::find(*cpu_moves, id, &Move::id) != cpu_moves->end())
          << tool << ": " << id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, ShippedMoves, testing::Values("cpu", "cuda"),
                         [](const auto& instance) { return instance.param; });

TEST(MoveFolder, AnIdTwiceAndAnEmptyFolderAreErrors) {
  const Result<ScratchDir> folder = ScratchDir::create("moves");
  ASSERT_TRUE(folder);
  const Result<std::vector<Move>> none = load_moves(folder->path());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("no moves are there"));
  for (const char* name : {"a.md", "b.md"}) {
    ASSERT_TRUE(write_file_unsynced(folder->path() / name, with_keys(all_keys)));
  }
  const Result<std::vector<Move>> twice = load_moves(folder->path());
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().text(),
              AllOf(HasSubstr("b.md"), HasSubstr("the id block is taken by another file")));
}

}  // namespace
}  // namespace kernelpro
