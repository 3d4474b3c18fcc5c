#include "coordinator/propose/source_header.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SourceHeader, NamesCompilerAndOptionsInTheFirstComments) {
  const SourceHeader header = read_source_header(
      "// A comment.\n\n// kp:compiler clang++-19\n// kp:options -O3 target\n// kp:options openmp\n"
      "#include <cstdint>\n");
  EXPECT_EQ(header.compiler, "clang++-19");
  EXPECT_THAT(header.options, ElementsAre("-O3", "target", "openmp"));
}

TEST(SourceHeader, EndsAtTheFirstLineOfCode) {
  const SourceHeader header =
      read_source_header("#include <cstdint>\n// kp:compiler nvcc\n// kp:options -O3\n");
  EXPECT_EQ(header.compiler, "");
  EXPECT_THAT(header.options, IsEmpty());
}

TEST(SourceHeader, IgnoresLinesThatOnlyMentionItsWords) {
  const SourceHeader header =
      read_source_header("// see kp:compiler nvcc\n// kp:optionsO3 x\n// kp:tune A = 1 2\n");
  EXPECT_EQ(header.compiler, "");
  EXPECT_THAT(header.options, IsEmpty());
}

}  // namespace
}  // namespace kernelpro
