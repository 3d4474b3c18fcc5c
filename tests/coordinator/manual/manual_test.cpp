#include "coordinator/manual/manual.hpp"

#include <gmock/gmock.h>

#include "coordinator/manual/completion.hpp"
#include "coordinator/manual/help.hpp"
#include "coordinator/manual/man_page.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Signs that mean something to roff, bash, zsh or fish.
constexpr const char* awkward = "it's a `\\n` $(x) \"y\"; more";

ManualCommand sample() {
  ManualCommand root;
  root.path = {"kernelpro"};
  root.summary = "Does it.";
  ManualCommand make;
  make.path = {"kernelpro", "make"};
  make.group = "Making";
  make.summary = "Makes things, and tells of them at such a length that one line does not hold it";
  make.notes = {".starts with a dot"};
  make.examples = {"kernelpro make -n 3"};
  ManualOption size;
  size.names = {"--size", "-n"};
  size.value = "INT";
  size.text = awkward;
  size.group = "Options";
  ManualOption what;
  what.names = {"what"};
  what.value = "FILE";
  what.argument = true;
  what.required = true;
  what.repeatable = true;
  make.options = {size, what};
  root.commands = {make};
  root.runs_alone = false;
  return root;
}

TEST(Help, IsWrappedAndListsArgumentsOptionsAndExamples) {
  const ManualCommand root = sample();
  HelpStyle style;
  style.width = 60;
  style.heading = [](const std::string& text) { return "*" + text + "*"; };
  const std::string text = help_text(root.commands.front(), style);
  EXPECT_THAT(text, AllOf(HasSubstr("*Usage:* kernelpro make [OPTIONS] what...\n"),
                          HasSubstr("*Arguments:*\n  what..."), HasSubstr("--size, -n INT"),
                          HasSubstr("*Example:*\n  kernelpro make -n 3\n")));
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    EXPECT_LE(end - at, 60U) << text.substr(at, end - at);
  }
  EXPECT_THAT(help_text(root, {}), HasSubstr("\nMaking:\n  make "));
}

TEST(UnknownWord, IsComparedWithWhatCouldStandThere) {
  const ManualCommand root = sample();
  EXPECT_EQ(unknown_word(root, "mkae"), "there is no command \"mkae\"; did you mean \"make\"?");
  EXPECT_EQ(unknown_word(root, "sleep"), "there is no command \"sleep\"");
  EXPECT_EQ(unknown_word(root.commands.front(), "--siz=3"),
            "`kernelpro make` has no option \"--siz\"; did you mean \"--size\"?");
  EXPECT_EQ(unknown_word(root.commands.front(), "-x"), "`kernelpro make` has no option \"-x\"");
}

TEST(ManPages, EscapeWhatRoffWouldObey) {
  const std::vector<ManPage> pages = man_pages(sample(), "1.0");
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages[1].name, "kernelpro-make.1");
  EXPECT_THAT(pages[1].text, AllOf(HasSubstr("it\\(aqs a \\(ga\\en\\(ga $(x)"),
                                   HasSubstr("\n\\&.starts with a dot"),
                                   HasSubstr("\\fB\\-\\-size\\fR, \\fB\\-n\\fR \\fIINT\\fR")));
}

TEST(Completion, KnowsThreeShells) {
  EXPECT_THAT(completion_shells(), ElementsAre("bash", "fish", "zsh"));
  const ManualCommand root = sample();
  EXPECT_THAT(completion_script(root, "tcsh").error().text(),
              HasSubstr("known are bash, fish, zsh"));
  const auto zsh = completion_script(root, "zsh");
  ASSERT_TRUE(zsh.ok());
  EXPECT_THAT(*zsh,
              AllOf(HasSubstr("'--size:it'\\''s a `\\n` $(x) \"y\"'"), Not(HasSubstr("more"))));
  const auto fish = completion_script(root, "fish");
  ASSERT_TRUE(fish.ok());
  EXPECT_THAT(*fish, HasSubstr("-d 'it\\'s a `\\\\n` $(x) \"y\"'"));
}

}  // namespace
}  // namespace kernelpro
