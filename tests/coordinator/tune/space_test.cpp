#include "coordinator/tune/space.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<TuneParameter> two = {{"BLOCK", {"16", "32", "64"}, true},
                                        {"KIND", {"row", "column"}, false}};

TEST(TuneSpaceTest, CodesCountEveryCombinationOnce) {
  const TuneSpace space = TuneSpace::make(two).value();
  EXPECT_EQ(space.size(), 6U);
  for (Code code = 0; code < space.size(); ++code) {
    EXPECT_EQ(space.code_of({space.value(code, 0), space.value(code, 1)}), code);
    EXPECT_TRUE(space.admits(code));
  }
  EXPECT_FALSE(space.admits(6));
  EXPECT_EQ(space.text(space.code_of({2, 1})), "BLOCK = 64, KIND = column");
}

TEST(TuneSpaceTest, NeighborsChangeOneParameterAndAreAdmitted) {
  const TuneSpace whole = TuneSpace::make(two).value();
  EXPECT_THAT(whole.neighbors(0), ElementsAre(1, 2, 3));
  const TuneSpace part = TuneSpace::make(two, {5, 0, 2}).value();
  EXPECT_EQ(part.size(), 3U);
  EXPECT_THAT(part.neighbors(0), ElementsAre(2));
  EXPECT_EQ(part.place_of(5), 2U);
}

TEST(TuneSpaceTest, SaysWhatIsWrongWithParameters) {
  const auto error = [](std::vector<TuneParameter> parameters, std::vector<Code> admitted = {}) {
    const Result<TuneSpace> space = TuneSpace::make(std::move(parameters), std::move(admitted));
    return space ? "" : space.error().message;
  };
  EXPECT_THAT(error({}), HasSubstr("no parameter"));
  EXPECT_THAT(error({{"A", {}, true}}), HasSubstr("\"A\" has no values"));
  EXPECT_THAT(error({{"A", {"1", "1"}, true}}), HasSubstr("\"A\" has a value twice"));
  EXPECT_THAT(error({two[0], two[0]}), HasSubstr("\"BLOCK\" is there twice"));
  EXPECT_THAT(error(two, {1, 1}), HasSubstr("there twice"));
  EXPECT_THAT(error(two, {6}), HasSubstr("none of the parameters' combinations"));
  std::vector<TuneParameter> many;
  for (int i = 0; i < 41; ++i) {
    many.push_back({"P" + std::to_string(i), {"1", "2", "3"}, true});
  }
  EXPECT_THAT(error(many), HasSubstr("more than 2^64"));
}

}  // namespace
}  // namespace kernelpro
