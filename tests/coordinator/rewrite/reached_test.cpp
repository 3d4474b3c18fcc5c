#include "coordinator/rewrite/reached.hpp"

#include <gmock/gmock.h>

#include "coordinator/rewrite/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace kernelpro::testing;

const std::string others =
    "void scatter(const int* idx, const float* v, int n, float* y) {\n"
    "  for (int k = 0; k < n; ++k) { y[idx[k]] += v[k]; }\n"
    "}\n"
    "static float twice(float x) { return 2 * x; }\n"
    "void scale(int n, const float* x, float* y) {\n"
    "  for (int i = 0; i < n; ++i) { y[i] = twice(x[i]); }\n"
    "}\n";
const std::string adapter =
    "#include <kernelpro/candidate.h>\n"
    "extern \"C\" int kp_launch(const kp_context* c, const kp_tensor* t, int32_t) {\n"
    "  scale(int(c->axes[0]), (const float*)t[0].data, (float*)t[1].data);\n"
    "  return 0;\n"
    "}\n";

std::vector<std::string> functions_of(const Program& program) {
  std::vector<std::string> names;
  for (const Item& item : program.items) {
    if (item.understood) {
      names.push_back(item.function.name);
    }
  }
  return names;
}

TEST(Reached, FunctionsThatStandThereForOthersAreLeftAsTheyAre) {
  const Program program = parsed(others + adapter);
  const Program reached = only_reached(program);
  EXPECT_THAT(functions_of(reached), ElementsAre("twice", "scale", "kp_launch"));
  EXPECT_EQ(print_program(reached), print_program(program));
}

TEST(Reached, AProgramWithoutAnEntryStaysWhole) {
  const Program program = parsed(others);
  EXPECT_EQ(only_reached(program), program);
}

TEST(Reached, NothingIsReachedThatOnlyTheMainProgramCalls) {
  const std::string main =
      "int main() {\n  int idx[1] = {0};\n  float v[1] = {1}, y[1] = {0};\n"
      "  scatter(idx, v, 1, y);\n  return 0;\n}\n";
  EXPECT_THAT(functions_of(only_reached(parsed(others + main + adapter))),
              ElementsAre("twice", "scale", "kp_launch"));
  EXPECT_THAT(functions_of(only_reached(Program())), IsEmpty());
}

}  // namespace
}  // namespace kernelpro
