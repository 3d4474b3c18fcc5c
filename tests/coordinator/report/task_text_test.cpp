#include "coordinator/report/task_text.hpp"

#include <gmock/gmock.h>

#include "support/small_task.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace kernelpro::testing;

TEST(TaskText, SaysWhatIsComputedFromWhatAndAtWhichSizes) {
  Task task = small_task();
  task.held_out["n"] = {8, 64, 8};
  task.inputs.at(0).values = {ValueKind::uniform, 0, 2, {}, ""};
  const std::string text = task_text(task);
  EXPECT_THAT(text, AllOf(HasSubstr(task.name + ": " + task.summary),
                          HasSubstr("uniform from 0 to 2"), HasSubstr("checked    n in [8, 64, 8]"),
                          HasSubstr("right is   "), HasSubstr("baseline   ")));
  for (const auto* list : {&task.inputs, &task.outputs}) {
    for (const TensorSpec& tensor : *list) {
      EXPECT_THAT(text, HasSubstr("\n" + tensor.name + " "));
    }
  }
}

}  // namespace
}  // namespace kernelpro
