#include "coordinator/propose/agents/memory.hpp"

#include "coordinator/propose/agents/fixture.hpp"

namespace kernelpro::agents {
namespace {

using kernelpro::testing::tried_failed;
using kernelpro::testing::tried_passed;
using kernelpro::testing::tried_root;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> texts(const std::vector<MemoryLine>& lines, MemoryKind kind,
                               bool measured) {
  std::vector<std::string> out;
  for (const MemoryLine& line : lines) {
    if (line.kind == kind && line.measured == measured) {
      out.push_back(line.text);
    }
  }
  return out;
}

Tried failed_build(NodeId id, const std::string& text) {
  return tried_failed(id, 0, "tile", Outcome::build_failed, "", "it does not compile", {text});
}

TEST(Memory, OfNothingIsEmpty) {
  EXPECT_THAT(remember({}), IsEmpty());
  EXPECT_THAT(remember({tried_root()}), IsEmpty());
}

TEST(Memory, NamesAnErrorOnceItIsRepeated) {
  const Tried first = tried_failed(1, 0, "tile", Outcome::incorrect, "poison",
                                   "3 of 300 elements of out were never written");
  const Tried second = tried_failed(4, 0, "tile", Outcome::incorrect, "poison",
                                    "8 of 20 elements of out were never written");
  EXPECT_THAT(remember({tried_root(), first}), IsEmpty());
  const std::vector<MemoryLine> lines = remember({tried_root(), first, second});
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].kind, MemoryKind::repeated_error);
  EXPECT_TRUE(lines[0].measured);
  EXPECT_THAT(lines[0].nodes, ElementsAre(1, 4));
  EXPECT_EQ(lines[0].text,
            "2 candidates failed alike: incorrect (poison): 8 of 20 elements of out were never "
            "written");
}

TEST(Memory, NamesWhatMovesGainedAndLost) {
  const std::vector<MemoryLine> lines =
      remember({tried_root(), tried_passed(1, 0, "tile", 2), tried_passed(2, 1, "simd", 1.5),
                tried_passed(3, 1, "tile", 4.5), tried_passed(4, 3, "unroll", 4.51)});
  EXPECT_THAT(texts(lines, MemoryKind::discovery, true),
              ElementsAre("the move simd lost: a factor of 0.75",
                          "the move tile gained a factor of 2.12 on average over 2 tries, 2.00 to "
                          "2.25",
                          "the move unroll made no difference"));
}

TEST(Memory, DoesNotCallARepairAGain) {
  EXPECT_THAT(
      remember({tried_root(), tried_failed(1, 0, "tile", Outcome::incorrect, "", "out[0] is 1"),
                tried_passed(2, 1, "repair", 3)}),
      IsEmpty());
}

TEST(Memory, KnowsWhatIsNotThere) {
  const std::vector<MemoryLine> lines = remember(
      {failed_build(1, "candidate.cpp:2:10: fatal error: mkl.h: No such file or directory\n"),
       failed_build(2, "candidate.cpp:2:10: fatal error: 'cblas.h' file not found\n"),
       failed_build(3, "candidate.cu(27): error: identifier \"__syncwarps\" is undefined\n"),
       failed_build(4, "candidate.cu(27): error: identifier \"alpha\" is undefined\n"),
       failed_build(5,
                    "build option \"-lcublas\" is refused: a candidate links nothing of its own; "
                    "allowed are target\n")});
  EXPECT_THAT(texts(lines, MemoryKind::discovery, true),
              ElementsAre("there is no header mkl.h here", "there is no header cblas.h here",
                          "the build option -lcublas is refused: a candidate links nothing of its "
                          "own"));
  EXPECT_THAT(texts(lines, MemoryKind::discovery, false),
              ElementsAre("__syncwarps does not seem to be available here"));
}

TEST(Memory, KnowsThatAPrecisionWasNotEnough) {
  const Tried lower =
      tried_failed(7, 0, "tensor_cores", Outcome::incorrect, "precision", "C[0] is 1, expected 2",
                   {"the error is within what tf32 arithmetic would give; if that is meant, allow "
                    "it with --allow-precision tf32"});
  EXPECT_THAT(texts(remember({lower}), MemoryKind::discovery, true),
              ElementsAre("the precision of tf32 is not enough here"));
}

TEST(Memory, SeesAPlateau) {
  std::vector<Tried> all = {tried_root(), tried_passed(1, 0, "tile", 2)};
  for (NodeId id = 2; id < 6; ++id) {
    all.push_back(tried_passed(id, 1, "simd", 2.01));
  }
  EXPECT_THAT(texts(remember(all), MemoryKind::plateau, true), IsEmpty());
  all.push_back(tried_passed(6, 1, "simd", 2.03));
  const std::vector<MemoryLine> lines = remember(all);
  EXPECT_THAT(texts(lines, MemoryKind::plateau, true),
              ElementsAre("the last 5 that passed gained less than 2 % over node 1, which is 2.00 "
                          "times as fast as the baseline"));
  EXPECT_THAT(texts(lines, MemoryKind::plateau, false), SizeIs(1));
  all.push_back(tried_passed(7, 1, "simd", 2.5));
  EXPECT_THAT(texts(remember(all), MemoryKind::plateau, true), IsEmpty());
}

TEST(Memory, DropsTheOldestAtItsBound) {
  std::vector<Tried> all = {tried_root()};
  for (NodeId id = 1; id <= 40; ++id) {
    all.push_back(tried_passed(id, 0, "move_" + std::to_string(id), 1 + 0.1 * double(id)));
  }
  const std::vector<MemoryLine> lines = remember(all, 3);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0].text, HasSubstr("move_38"));
  EXPECT_THAT(lines[2].text, HasSubstr("move_40"));
}

}  // namespace
}  // namespace kernelpro::agents
