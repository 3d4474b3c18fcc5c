#include "coordinator/propose/agents/prompt_file.hpp"

#include "coordinator/propose/agents/fixture.hpp"
#include "coordinator/propose/agents/section.hpp"

namespace kernelpro::agents {
namespace {

using kernelpro::testing::file_text;
using kernelpro::testing::prompt_folder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string parse_error(const std::string& text) {
  const Result<PromptFile> prompt = parse_prompt(text, "my/planner.md");
  EXPECT_FALSE(prompt.ok());
  return prompt.ok() ? "" : prompt.error().text();
}

const std::string head = "---\nrole: planner\nanswer: plan\n---\n";

TEST(PromptFile, IsTakenApartAtItsPlaces) {
  const Result<PromptFile> prompt =
      parse_prompt(head + "# system\nOn {{task}} now.\n# user\n{{parent}}\n", "planner.md");
  ASSERT_TRUE(prompt.ok()) << prompt.error().text();
  EXPECT_EQ(prompt->role, LlmRole::planner);
  ASSERT_THAT(prompt->system, SizeIs(3));
  EXPECT_EQ(prompt->system[0].text, "On ");
  EXPECT_TRUE(prompt->system[1].section);
  EXPECT_EQ(prompt->system[1].text, "task");
  EXPECT_EQ(prompt->system[2].text, " now.\n");
}

TEST(PromptFile, ThatIsMalformedIsAnErrorWithItsLine) {
  EXPECT_EQ(parse_error("# system\n"), "my/planner.md:1: expected --- before the keys");
  EXPECT_EQ(parse_error("---\nrole: planner\n"), "my/planner.md:2: expected --- after the keys");
  EXPECT_EQ(parse_error("---\nrole planner\n---\n"),
            "my/planner.md:2: expected \"key: value\", not \"role planner\"");
  EXPECT_EQ(parse_error("---\nrole: planner\n---\n"), "my/planner.md:1: expected the key answer");
  EXPECT_EQ(parse_error("---\nrole: planner\nanswer: plan\nmodel: x\n---\n"),
            "my/planner.md:1: expected the keys role, answer only, not \"model\"");
  EXPECT_EQ(parse_error("---\nrole: boss\nanswer: plan\n---\n"),
            "my/planner.md:1: there is no role \"boss\"");
  EXPECT_EQ(parse_error("---\nrole: planner\nanswer: code\n---\n"),
            "my/planner.md:1: the answer of a planner is \"plan\", not \"code\"");
  EXPECT_EQ(parse_error(head + "Hello\n# system\n"),
            "my/planner.md:5: expected \"# system\" or \"# user\" before any text");
  EXPECT_EQ(parse_error(head + "# system\nx\n# system\n"),
            "my/planner.md:7: \"# system\" is there twice");
  EXPECT_EQ(parse_error(head + "# system\n{{task}}\n"),
            "my/planner.md:6: the part \"# user\" is missing");
}

TEST(PromptFile, RefusesPlacesThatAreNone) {
  EXPECT_EQ(parse_error(head + "# system\nx\n# user\na {{parent\n"),
            "my/planner.md:8: expected }} behind {{ on the same line");
  const std::string unknown = parse_error(head + "# system\n{{tasks}}\n# user\n{{parent}}\n");
  EXPECT_THAT(unknown, HasSubstr("my/planner.md:6: there is no section \"tasks\"; expected one of "
                                 "contract, backend, language, machine, task, "));
  EXPECT_THAT(parse_error(head + "# system\n{{ task }}\n# user\nx\n"),
              HasSubstr("there is no section \" task \""));
  EXPECT_THAT(parse_error(head + "# system\n{{parent}}\n# user\nx\n"),
              HasSubstr("my/planner.md:6: {{parent}} differs from call to call"));
}

TEST(PromptFile, HasLinesThatStandUnderConditions) {
  const Result<PromptFile> prompt = parse_prompt(
      head +
          "# system\na {{task}}\n{{if axes}}\nb\n{{if not torch}}\nc\n{{end}}\n{{end}}\nd\n"
          "# user\n{{parent}}\n",
      "planner.md");
  ASSERT_TRUE(prompt.ok()) << prompt.error().text();
  const std::vector<PromptPiece>& pieces = prompt->system;
  ASSERT_THAT(pieces, SizeIs(6));
  EXPECT_EQ(pieces[3].text, "b\n");
  EXPECT_THAT(pieces[3].when, ElementsAre("axes"));
  EXPECT_THAT(pieces[4].when, ElementsAre("axes", "not torch"));
  EXPECT_THAT(pieces[5].when, IsEmpty());
  EXPECT_EQ(parse_error(head + "# system\n{{if axes}}\nx\n# user\n{{parent}}\n"),
            "my/planner.md:8: expected {{end}} behind {{if axes}}");
  EXPECT_EQ(parse_error(head + "# system\nx\n{{end}}\n"),
            "my/planner.md:7: there is no {{if …}} before this {{end}}");
  EXPECT_THAT(parse_error(head + "# system\n{{if axis}}\n"),
              HasSubstr("my/planner.md:6: there is no condition \"axis\"; expected one of axes, "));
}

TEST(PromptFile, HasWhatItsRoleCannotWorkWithout) {
  EXPECT_EQ(parse_error(head + "# system\n{{task}}\n# user\nGo.\n"),
            "my/planner.md: expected the place {{parent}}: the planner cannot work without it");
}

TEST(Prompts, OfAUserStandInFrontOfTheInstalledOnes) {
  const Result<ScratchDir> own = ScratchDir::create("prompts");
  ASSERT_TRUE(own.ok());
  const std::string text =
      "---\nrole: reviewer\nanswer: review\n---\n# system\nMine. {{task}}\n# user\n"
      "{{plan}}{{candidate}}\n";
  ASSERT_TRUE(write_file_unsynced(own->path() / "reviewer.md", text).ok());
  const Result<PromptSet> set = load_prompts(own->path(), prompt_folder);
  ASSERT_TRUE(set.ok()) << set.error().text();
  EXPECT_EQ(set->roles.at(LlmRole::reviewer).system.front().text, "Mine. ");
  EXPECT_THAT(set->roles, SizeIs(4));
  EXPECT_THAT(set->first, SizeIs(2));
  EXPECT_THAT(set->parts, SizeIs(3));
}

// Else somebody's own planner would not be asked at all where it matters most.
TEST(Prompts, OfAUserAreForFirstKernelsToo) {
  const Result<ScratchDir> own = ScratchDir::create("prompts");
  ASSERT_TRUE(own.ok());
  const std::string text = head + "# system\nMine. {{task}}\n# user\n{{parent}}\n";
  ASSERT_TRUE(write_file_unsynced(own->path() / "planner.md", text).ok());
  const Result<PromptSet> set = load_prompts(own->path(), prompt_folder);
  ASSERT_TRUE(set.ok()) << set.error().text();
  EXPECT_EQ(set->of(LlmRole::planner, true).system.front().text, "Mine. ");
  EXPECT_THAT(set->of(LlmRole::coder, true).system.front().text, HasSubstr("first candidate"));
  ASSERT_TRUE(write_file_unsynced(own->path() / "planner_first.md",
                                  head + "# system\nFirst. {{task}}\n# user\n{{parent}}\n")
                  .ok());
  const Result<PromptSet> both = load_prompts(own->path(), prompt_folder);
  ASSERT_TRUE(both.ok()) << both.error().text();
  EXPECT_EQ(both->of(LlmRole::planner, true).system.front().text, "First. ");
  EXPECT_EQ(both->of(LlmRole::planner, false).system.front().text, "Mine. ");
}

TEST(Prompts, OfAUserByAnUnknownNameAreAnError) {
  const Result<ScratchDir> own = ScratchDir::create("prompts");
  ASSERT_TRUE(own.ok());
  const Result<PromptSet> none = load_prompts(own->path(), prompt_folder);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().text(), HasSubstr("no prompt is there; expected some of planner.md, "));
  ASSERT_TRUE(write_file_unsynced(own->path() / "codr.md", "x").ok());
  const Result<PromptSet> typo = load_prompts(own->path(), prompt_folder);
  ASSERT_FALSE(typo.ok());
  EXPECT_THAT(typo.error().text(), HasSubstr("codr.md: no prompt has that name; expected "));
  const Result<PromptSet> gone = load_prompts(own->path() / "gone", prompt_folder);
  ASSERT_FALSE(gone.ok());
  EXPECT_THAT(gone.error().text(), HasSubstr("the folder of prompts cannot be read"));
}

TEST(Prompts, WhoseFilesHaveChangedPlacesAreAnError) {
  const Result<ScratchDir> own = ScratchDir::create("prompts");
  ASSERT_TRUE(own.ok());
  ASSERT_TRUE(
      write_file_unsynced(own->path() / "coder.md", file_text(prompt_folder / "fixer.md")).ok());
  const Result<PromptSet> set = load_prompts(own->path(), prompt_folder);
  ASSERT_FALSE(set.ok());
  EXPECT_THAT(set.error().text(), HasSubstr("expected \"role: coder\", as the file is called"));
  ASSERT_TRUE(std::filesystem::remove(own->path() / "coder.md"));
  ASSERT_TRUE(write_file_unsynced(own->path() / "cuda.md", "---\npart: cpu\n---\nx\n").ok());
  const Result<PromptSet> part = load_prompts(own->path(), prompt_folder);
  ASSERT_FALSE(part.ok());
  EXPECT_THAT(part.error().text(), HasSubstr("cuda.md:1: expected \"part: cuda\""));
}

// What prompts show of the interface is the interface.
TEST(Prompts, ShowTheInterfaceAsItIs) {
  const std::string header = file_text(KERNELPRO_SOURCE_DIR "/include/kernelpro/candidate.h");
  const std::string contract = file_text(prompt_folder / "contract.md");
  const std::string begin = "```c\n";
  const std::size_t from = contract.find(begin) + begin.size();
  std::istringstream lines(contract.substr(from, contract.find("```\n", from) - from));
  int compared = 0;
  for (std::string line; std::getline(lines, line); ++compared) {
    EXPECT_THAT(header, HasSubstr(line + "\n"));
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace kernelpro::agents
