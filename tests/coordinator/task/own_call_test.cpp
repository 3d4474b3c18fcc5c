#include "coordinator/task/own_call.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <string>

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// How `void f(const Image& in)` is called.
OwnCall call_with(const RecordFields& fields) {
  OwnFunction function;
  function.name = function.call = "f";
  function.returns.kind = OwnType::Kind::nothing;
  const RecordLookup lookup = [&fields](const std::string& name) {
    return name == "Image" ? std::optional(fields) : std::nullopt;
  };
  function.parameters = {{"in", parse_own_type("Image const&", lookup)}};
  return plan_call(function);
}

TEST(OwnCall, GivesConstantFieldsTheirValuesAtOnce) {
  const OwnCall once =
      call_with({{"data", "const float *const"}, {"w", "const int"}, {"h", "int"}});
  EXPECT_THAT(once.before, HasSubstr("Image kp_in = Image{"));
  EXPECT_THAT(once.before, HasSubstr("static_cast<int>(in_w), static_cast<int>(in_h)}"));
  EXPECT_THAT(once.before, Not(HasSubstr("kp_in.w = ")));
  const OwnCall open = call_with({{"data", "const float *"}, {"w", "int"}});
  EXPECT_THAT(open.before, HasSubstr("kp_in.w = static_cast<int>(in_w);"));
}

}  // namespace
}  // namespace kernelpro
