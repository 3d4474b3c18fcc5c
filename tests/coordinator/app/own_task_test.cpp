#include "coordinator/app/own_task.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

Error bad_input(const std::string& message, const std::string& context) {
  return make_error(ErrorKind::bad_input, message, context);
}

// Other sizes help where a call fails, not where something does not build.
TEST(OwnTask, AsksForOtherSizesWhereACallFails) {
  EXPECT_TRUE(is_of_a_call(bad_input("it crashed: Segmentation fault", "the task's baseline")));
  EXPECT_TRUE(is_of_a_call(bad_input("the reference did not finish in time", "reference.hpp")));
  EXPECT_FALSE(is_of_a_call(bad_input("the baseline does not build:\nno such type", "f.cpp")));
  EXPECT_FALSE(is_of_a_call(bad_input("the reference does not compile:\nerror", "reference.hpp")));
  EXPECT_FALSE(is_of_a_call(bad_input("expected a number", "task.toml:12")));
  EXPECT_FALSE(is_of_a_call(make_error(ErrorKind::environment, "no jail", "the task's baseline")));
}

}  // namespace
}  // namespace kernelpro
