#include "coordinator/cli/commands.hpp"

#include <gmock/gmock.h>

#include "coordinator/manual/manual.hpp"

namespace kernelpro {
namespace {

TEST(Commands, EveryCommandOfTheTablesIsDoneBySomething) {
  const ManualCommand manual = whole_manual();
  const std::vector<const ManualCommand*> all = all_commands(manual);
  EXPECT_GT(all.size(), 20U);
  for (const ManualCommand* command : all) {
    const std::string name = full_name(*command).substr(std::string("kernelpro ").size());
    EXPECT_NE(find_function(name), nullptr) << name;
    EXPECT_FALSE(command->examples.empty()) << name;
    EXPECT_FALSE(command->summary.empty()) << name;
  }
  EXPECT_EQ(find_function("task"), nullptr);
  EXPECT_EQ(find_function(""), nullptr);
}

TEST(Commands, EveryOptionSaysWhatItIs) {
  const ManualCommand manual = whole_manual();
  for (const ManualCommand* command : all_commands(manual)) {
    for (const ManualOption& option : command->options) {
      EXPECT_FALSE(option.text.empty()) << full_name(*command) << " " << option.names.front();
    }
  }
}

}  // namespace
}  // namespace kernelpro
