// The moves that come with the program, made concrete for real sources by the real parser.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "common/base/file.hpp"
#include "coordinator/propose/prospects.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

PlaybookSettings settings() {
  PlaybookSettings out;
  out.moves = KERNELPRO_SOURCE_DIR "/knowledge/moves/cpu";
  out.compilers = {"g++", "clang++-19"};
  out.parse.jail = KERNELPRO_BIN_DIR "/kernelpro-jail";
  out.parse.abi_include = KERNELPRO_SOURCE_DIR "/include";
  return out;
}

Playbook playbook(const PlaybookSettings& wanted = settings()) {
  Result<Playbook> loaded = Playbook::load(wanted);
  EXPECT_TRUE(loaded) << loaded.error().text();
  return std::move(*loaded);
}

struct Suggestions {
  std::vector<Suggestion> list;
  std::vector<Refusal> refusals;
};

// All that the prospects of a parent hold, the most promising first.
Suggestions all_for(const Parent& parent, const Playbook& book) {
  Prospects prospects(book, parent);
  Suggestions out;
  std::string key;
  while (std::optional<Suggestion> one = prospects.take({}, {}, key)) {
    out.list.push_back(std::move(*one));
  }
  out.refusals = prospects.refusals();
  return out;
}

std::optional<Playbook> shared_book;

// While what its scratch folder needs is there.
struct SharedBookGoes : public ::testing::Environment {
  void TearDown() override { shared_book.reset(); }
};
const auto* const shared_book_goes = ::testing::AddGlobalTestEnvironment(new SharedBookGoes);

// By one playbook, which need not parse and rewrite the same source for each test.
Suggestions all_for(const Parent& parent) {
  if (!shared_book) {
    shared_book = playbook();
  }
  return all_for(parent, *shared_book);
}

Parent parent_of(const std::string& source, std::vector<std::string> options) {
  Parent parent;
  parent.candidate.source = source;
  parent.candidate.options = std::move(options);
  return parent;
}

Parent gemm(std::vector<std::string> options) {
  const Result<std::string> source = read_file(KERNELPRO_SOURCE_DIR "/tasks/gemm/baseline.cpp");
  EXPECT_TRUE(source);
  return parent_of(*source, std::move(options));
}

std::vector<std::string> moves_in(const Suggestions& suggestions) {
  std::vector<std::string> moves;
  for (const Suggestion& suggestion : suggestions.list) {
    moves.push_back(suggestion.proposal.move);
  }
  return moves;
}

std::string refusal_of(const Suggestions& suggestions, const std::string& move) {
  for (const Refusal& refusal : suggestions.refusals) {
    if (refusal.move == move) {
      return refusal.reason;
    }
  }
  return "";
}

const Suggestion& first(const Suggestions& suggestions, const std::string& move) {
  return *std::find_if(suggestions.list.begin(), suggestions.list.end(),
                       [&move](const Suggestion& one) { return one.proposal.move == move; });
}

TEST(PlaybookTest, ANaiveNestGetsMovesOfEveryTier) {
  const Suggestions suggestions = all_for(gemm({"-O3", "target"}));
  EXPECT_THAT(moves_in(suggestions), AllOf(Contains("fast_math"), Contains("parallel"),
                                           Contains("register_block"), Contains("interchange")));
  EXPECT_EQ(refusal_of(suggestions, "tune"), "the source has no tunables");
}

TEST(PlaybookTest, OptionsAreAddedOnceAndLevelsReplaceEachOther) {
  const Suggestions suggestions = all_for(gemm({"-O2", "openmp"}));
  EXPECT_THAT(first(suggestions, "best_flags").proposal.candidate.options,
              ElementsAre("openmp", "-O3", "target", "-ffast-math"));
}

// Applied one after the other.
Candidate after(const Parent& parent, const std::vector<std::string>& moves) {
  Parent now = parent;
  for (const std::string& move : moves) {
    now.candidate = first(all_for(now), move).proposal.candidate;
  }
  return now.candidate;
}

TEST(PlaybookTest, ACompilerIsNotGivenOptionsOfTheOther) {
  const Candidate clang = after(gemm({"-O3", "target"}), {"vector_cost", "clang"});
  EXPECT_EQ(clang.compiler, "clang++-19");
  EXPECT_THAT(clang.options, ElementsAre("-O3", "target"));
  const Candidate gcc = after(gemm({"-O3", "target"}), {"clang", "polly", "gcc"});
  EXPECT_EQ(gcc.compiler, "g++");
  EXPECT_THAT(gcc.options, ElementsAre("target", "-O3"));
}

TEST(PlaybookTest, ConditionsKeepMovesAway) {
  PlaybookSettings strict = settings();
  strict.fast_math = false;
  strict.compilers = {"g++"};
  const Suggestions suggestions = all_for(gemm({"-O2"}), playbook(strict));
  EXPECT_THAT(moves_in(suggestions), Not(Contains("best_flags")));
  EXPECT_EQ(refusal_of(suggestions, "best_flags"), "it needs \"fast_math\"");
  EXPECT_EQ(refusal_of(suggestions, "clang"), "clang++-19 is not there");
  EXPECT_EQ(refusal_of(suggestions, "register_block"), "it needs \"target\"");
}

TEST(PlaybookTest, ASourceThatDoesNotParseStillGetsTheFirstTier) {
  const Suggestions suggestions = all_for(parent_of("int kp_launch( {\n", {"-O2", "target"}));
  EXPECT_THAT(moves_in(suggestions), AllOf(Contains("fast_math"), Not(Contains("parallel"))));
  EXPECT_THAT(refusal_of(suggestions, "parallel"), HasSubstr("expected"));
}

TEST(PlaybookTest, SizesMoveByOneStepUpAndDown) {
  const Suggestions suggestions = all_for(parent_of(
      "// kp:tune A = 1 2 4\nconstexpr int A = 2;\n// kp:tune B = 8 16\n#define B 8\n", {}));
  std::vector<std::string> sites;
  for (const Suggestion& suggestion : suggestions.list) {
    if (suggestion.proposal.move == "tune") {
      sites.push_back(suggestion.proposal.site);
    }
  }
  EXPECT_THAT(sites, ElementsAre("A = 4", "A = 1", "B = 16"));
}

TEST(PlaybookTest, NothingIsSuggestedForAFailedCandidate) {
  Parent failed = gemm({"-O2"});
  failed.passed = false;
  EXPECT_THAT(all_for(failed).list, IsEmpty());
}

TEST(PlaybookTest, MovesAgainstTheDiagnosedClassPromiseMore) {
  Parent parent = gemm({"-O3", "target"});
  parent.diagnosis.bottleneck = Bottleneck::compute;
  const double fitting = first(all_for(parent), "register_block").promise;
  parent.diagnosis.bottleneck = Bottleneck::memory;
  EXPECT_LT(first(all_for(parent), "register_block").promise, fitting);
}

TEST(PlaybookTest, TheMostPromisingComesFirstAndWhatIsKnownNever) {
  const Playbook book = playbook();
  Prospects prospects(book, gemm({"-O3", "target"}));
  std::string key;
  const std::optional<Suggestion> best = prospects.take({}, {}, key);
  ASSERT_TRUE(best);
  for (const Suggestion& other : all_for(gemm({"-O3", "target"})).list) {
    EXPECT_LE(other.promise * other.weight, best->promise * best->weight);
  }
  Prospects again(book, gemm({"-O3", "target"}));
  std::string other_key;
  ASSERT_TRUE(again.take({}, {key}, other_key));
  EXPECT_NE(other_key, key);
}

TEST(PlaybookTest, AMoveThatNeverPaysPromisesLessAndLess) {
  const Playbook book = playbook();
  const Suggestion suggestion = first(all_for(gemm({"-O3", "target"})), "interchange");
  Experience experience;
  EXPECT_DOUBLE_EQ(Playbook::promise(suggestion, experience), suggestion.promise);
  experience.records["interchange"] = {4, 0.0};
  EXPECT_LT(Playbook::promise(suggestion, experience), suggestion.promise / 2);
  experience.records["interchange"] = {4, 8.0};
  EXPECT_GT(Playbook::promise(suggestion, experience), suggestion.promise);
}

TEST(PlaybookTest, AMoveMadeBeforeOnTheWayPromisesLess) {
  Parent parent = gemm({"-O3", "target"});
  const double fresh = Playbook::promise(first(all_for(parent), "interchange"), {});
  parent.moves = {"interchange"};
  EXPECT_LT(Playbook::promise(first(all_for(parent), "interchange"), {}), fresh / 2);
  Experience gained;
  gained.records["interchange"] = {1, 3.0};
  EXPECT_LT(Playbook::promise(first(all_for(parent), "interchange"), gained), fresh);
}

Finding finding_for(std::vector<std::string> moves, double gain) {
  Finding finding;
  finding.tool = "some_tool";
  finding.moves = std::move(moves);
  finding.predicted_gain = gain;
  return finding;
}

TEST(PlaybookTest, AMoveThatAFindingNamesPromisesMore) {
  const Playbook book = playbook();
  Parent parent = gemm({"-O3", "target"});
  parent.diagnosis.bottleneck = Bottleneck::memory;
  const std::vector<Move>& moves = book.moves();
  for (const Move& move : moves) {
    Parent found = parent;
    found.diagnosis.findings = {finding_for({"something else", move.id}, 8)};
    EXPECT_GT(Playbook::promise(move, found, {}), Playbook::promise(move, parent, {})) << move.id;
    found.diagnosis.findings = {finding_for({"something else"}, 8)};
    EXPECT_DOUBLE_EQ(Playbook::promise(move, found, {}), Playbook::promise(move, parent, {}));
  }
}

TEST(PlaybookTest, TheLargestFindingOfAMoveCounts) {
  const Playbook book = playbook();
  const Move& move = book.moves().front();
  const auto promise = [&move](std::vector<Finding> findings) {
    Parent parent = gemm({"-O3", "target"});
    parent.diagnosis.findings = std::move(findings);
    return Playbook::promise(move, parent, {});
  };
  const double large = promise({finding_for({move.id}, 9)});
  EXPECT_GT(large, promise({finding_for({move.id}, 5)}));
  EXPECT_DOUBLE_EQ(promise({finding_for({move.id}, 5), finding_for({move.id}, 9)}), large);
  EXPECT_DOUBLE_EQ(promise({finding_for({move.id}, 9), finding_for({move.id}, 5)}), large);
}

// What the move file expects is not taken back by a modest finding.
TEST(PlaybookTest, ASmallFindingTakesNothingAway) {
  const Playbook book = playbook();
  for (const Move& move : book.moves()) {
    Parent parent = gemm({"-O3", "target"});
    const double before = Playbook::promise(move, parent, {});
    for (const double gain : {0.0, 1.0, 1.01}) {
      parent.diagnosis.findings = {finding_for({move.id}, gain)};
      EXPECT_GE(Playbook::promise(move, parent, {}), before) << move.id << " " << gain;
    }
  }
}

TEST(PlaybookTest, StepsThatDoNotApplyAreLeftOutWhereTheMoveSaysSo) {
  const Suggestion whole = first(all_for(gemm({"-O3", "target"})), "nest_in_parallel");
  EXPECT_THAT(whole.proposal.plan,
              AllOf(HasSubstr("in registers"), HasSubstr("copied together"),
                    HasSubstr("rounds shared among threads"), Not(HasSubstr("polynomials"))));
  EXPECT_THAT(whole.proposal.candidate.source,
              AllOf(HasSubstr("B_packed"), HasSubstr("#pragma omp parallel for")));
  EXPECT_THAT(refusal_of(all_for(gemm({"-O3", "target"})), "nests_in_parallel"), IsEmpty());
}

TEST(RewriteMemoryTest, AnswersAgainWithTheSame) {
  RewriteMemory memory(settings().parse, 1);
  const std::string source = gemm({}).candidate.source;
  const auto once = memory.rewritten("peel", source, {}, {});
  ASSERT_FALSE(once) << once->front().source;
  EXPECT_EQ(memory.rewritten("peel", source, {}, {}).error().text(), once.error().text());
  EXPECT_THAT(memory.rewritten("parallel", "int x(", {}, {}).error().text(), HasSubstr("expected"));
  const auto parallel = memory.rewritten("parallel", source, {}, {});
  ASSERT_TRUE(parallel);
  EXPECT_EQ(memory.rewritten("parallel", source, {}, {})->front().source, parallel->front().source);
  EXPECT_NE(memory.rewritten("parallel", source, {{"schedule", "dynamic"}}, {})->front().source,
            parallel->front().source);
}

TEST(RewriteMemoryTest, IsSharedByThreadsAlthoughItForgets) {
  const std::string source = gemm({}).candidate.source;
  RewriteMemory alone(settings().parse);
  const auto expected = alone.rewritten("parallel", source, {}, {});
  ASSERT_TRUE(expected);
  RewriteMemory memory(settings().parse, 2);
  std::atomic<int> same = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const std::string own = source + "// " + std::to_string(i) + "\n";
        for (const std::string& one : {source, own, source}) {
          memory.parse(one, {});
          const auto found = memory.rewritten("parallel", one, {}, {});
          same += found && found->front().source.starts_with(expected->front().source) ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(same, 12);
}

std::vector<std::string> ids_of(const std::vector<Move>& moves) {
  std::vector<std::string> ids;
  for (const Move& move : moves) {
    ids.push_back(move.id);
  }
  return ids;
}

TEST(PlaybookTest, WhatSomebodyHasToWriteIsKnownAndNeverSuggested) {
  const Playbook book = playbook();
  EXPECT_THAT(ids_of(book.known_moves()), AllOf(Contains("micro_kernel"), Contains("parallel")));
  EXPECT_THAT(ids_of(book.moves()), AllOf(Not(Contains("micro_kernel")), Contains("parallel")));
  const Suggestions suggestions = all_for(gemm({"-O3", "target"}));
  EXPECT_THAT(moves_in(suggestions), Not(Contains("micro_kernel")));
  EXPECT_EQ(refusal_of(suggestions, "micro_kernel"), "");
}

TEST(PlaybookTest, AskedForByNameOrTierItIsNotSuggestedEither) {
  PlaybookSettings wanted = settings();
  wanted.tiers = {written_tier};
  wanted.only = {"micro_kernel", "parallel"};
  const Playbook book = playbook(wanted);
  EXPECT_THAT(ids_of(book.moves()), ElementsAre("parallel"));
  EXPECT_THAT(ids_of(book.known_moves()), Contains("vector_reduction"));
}

TEST(PlaybookTest, ConditionsSayForWhomAWrittenMoveIs) {
  PlaybookSettings cuda = settings();
  cuda.moves = KERNELPRO_SOURCE_DIR "/knowledge/moves/cuda";
  const Playbook book = playbook(cuda);
  const std::vector<Move>& known = book.known_moves();
  const auto barriers = std::find_if(known.begin(), known.end(),
                                     [](const Move& move) { return move.id == "fewer_barriers"; });
  ASSERT_NE(barriers, known.end());
  EXPECT_EQ(book.obstacle(*barriers, parent_of("__syncthreads();", {})), "");
  EXPECT_EQ(book.obstacle(*barriers, parent_of("", {})), "it needs \"__syncthreads\"");
}

TEST(PlaybookTest, UnknownTiersAndMovesAreNamedWithTheKnownOnes) {
  PlaybookSettings wrong = settings();
  wrong.tiers = {"magic"};
  const Result<Playbook> loaded = Playbook::load(wrong);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().text(),
            "there is no tier \"magic\"; known are build, pragmas, nest, tune, write");
}

}  // namespace
}  // namespace kernelpro
