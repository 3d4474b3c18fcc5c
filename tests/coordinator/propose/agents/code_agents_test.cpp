// Agents that learn from indexed code.
#include "coordinator/propose/agents/agents.hpp"
#include "coordinator/propose/agents/fixture.hpp"

namespace kernelpro {
namespace {

using kernelpro::testing::cuda_source;
using kernelpro::testing::fill_cuda;
using kernelpro::testing::fill_failed;
using kernelpro::testing::ListedCaller;
using kernelpro::testing::prompt_folder;
using kernelpro::testing::Situation;
using kernelpro::testing::tried_failed;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const CodePassage tma = {
    .file = "lib/tma.cu", .first = 3, .last = 4, .text = "void tma_load() {\n}\n"};
const CodePassage wait = {.file = "lib/wait.h", .first = 9, .last = 9, .text = "void wait();\n"};

// Remembers what it was asked.
class ShortLibrary : public CodeLibrary {
 public:
  [[nodiscard]] Result<std::vector<CodePassage>> search(
      const std::string& question) const override {
    asked.push_back(question);
    return broken ? Result<std::vector<CodePassage>>(
                        make_error(ErrorKind::io, "damaged", "code.sqlite"))
                  : found;
  }
  [[nodiscard]] Result<std::vector<CodePassage>> symbol(const std::string& name) const override {
    return name == "wait" ? std::vector<CodePassage>{wait} : std::vector<CodePassage>{};
  }
  [[nodiscard]] Result<CodePassage> read(const std::string& place) const override {
    return place == "tma.cu:3-4" ? Result<CodePassage>(tma)
                                 : make_error(ErrorKind::bad_input, "is not in the index", place);
  }
  [[nodiscard]] Result<std::string> contents() const override {
    return std::string("lib (2 files)");
  }

  std::vector<CodePassage> found = {tma, wait};
  bool broken = false;
  mutable std::vector<std::string> asked;
};

const Called planned = ListedCaller::answered(
    R"({"move":"tma","plan":"Load by TMA.","predicted_gain":1.3,"why":"fewer instructions"})");
const Called written =
    ListedCaller::answered("```cuda\n" + cuda_source("out[i] = y[i] + x[i];") + "```\n");

class CodeAgents : public ::testing::Test {
 protected:
  CodeAgents() { fill_cuda(situation_); }

  LlmSettings& settings() { return *situation_.run.settings.llm; }

  Proposed propose(std::deque<Called> answers) {
    caller_ = std::make_unique<ListedCaller>(std::move(answers));
    const Result<Agents> agents = Agents::load(settings(), prompt_folder, library_);
    const Result<Proposed> out = agents->propose(situation_.order, *caller_, std::stop_token());
    EXPECT_TRUE(out.ok()) << out.error().text();
    return out.ok() ? *out : Proposed{};
  }
  [[nodiscard]] const std::vector<ChatRequest>& requests() const { return caller_->requests; }

  Situation situation_;
  std::shared_ptr<ShortLibrary> library_ = std::make_shared<ShortLibrary>();
  std::unique_ptr<ListedCaller> caller_;
};

TEST_F(CodeAgents, FindWhatFitsThePlanInThePrompt) {
  const Proposed out = propose({planned, written});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(library_->asked, ElementsAre("tma Load by TMA. fewer instructions"));
  EXPECT_THAT(requests()[0].messages[0].text, Not(HasSubstr("Code to learn from")));
  EXPECT_THAT(requests()[1].messages[0].text,
              AllOf(HasSubstr("## Code to learn from\n"),
                    HasSubstr("`lib/tma.cu:3-4`\n\n```cpp\nvoid tma_load() {\n}\n```"),
                    HasSubstr("`lib/wait.h:9-9`")));
  EXPECT_THAT(out.learned, ElementsAre("lib/tma.cu:3-4", "lib/wait.h:9-9"));
  EXPECT_THAT(requests()[1].tools, IsEmpty());
}

TEST_F(CodeAgents, LeaveOutWhatDoesNotFitIntoThePrompt) {
  for (CodePassage& passage : library_->found) {
    passage.text += std::string(5000, '/') + "\n";
  }
  EXPECT_THAT(propose({planned, written}).learned, SizeIs(2));
  const std::size_t bytes = requests()[1].system.size() + requests()[1].messages[0].text.size();
  settings().prompt_tokens = static_cast<std::int64_t>(bytes * 2 / 7 - 500);
  const Proposed out = propose({planned, written});
  EXPECT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_LT(out.learned.size(), 2U);
  for (const CodePassage& passage : library_->found) {
    const bool shown = requests()[1].messages[0].text.find(passage.file) != std::string::npos;
    const auto learned = std::ranges::count_if(
        out.learned, [&](const std::string& place) { return place.starts_with(passage.file); });
    EXPECT_EQ(learned, shown ? 1 : 0) << passage.file;
  }
}

TEST_F(CodeAgents, RepairByTheWordsOfTheFailureAndItsPlan) {
  fill_failed(situation_,
              tried_failed(7, 3, "tma", Outcome::build_failed, "", "tma_load is undefined"),
              cuda_source("out[i] = x[i];"));
  const Proposed out = propose({written});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  ASSERT_THAT(library_->asked, SizeIs(1));
  EXPECT_THAT(library_->asked[0], HasSubstr("tma_load is undefined"));
  EXPECT_THAT(out.learned, SizeIs(2));
  // What would be sent is what is sent.
  const Result<Agents> agents = Agents::load(settings(), prompt_folder, library_);
  EXPECT_EQ(agents->preview(situation_.order)->request.messages, requests()[0].messages);
}

TEST_F(CodeAgents, AskNobodyWhereTheSettingsSayNone) {
  settings().code = CodeUse::none;
  const Proposed out = propose({planned, written});
  EXPECT_THAT(library_->asked, IsEmpty());
  EXPECT_THAT(out.learned, IsEmpty());
}

TEST_F(CodeAgents, GoOnWithoutAnIndexThatCannotBeRead) {
  library_->broken = true;
  const Proposed out = propose({planned, written});
  EXPECT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(out.mishaps, ElementsAre("code: code.sqlite: damaged"));
  EXPECT_THAT(out.learned, IsEmpty());
}

TEST_F(CodeAgents, LookItUpByTools) {
  settings().code = CodeUse::tools;
  const Proposed out =
      propose({ListedCaller::tool("search_code", R"({"words":"tma"})"), planned,
               ListedCaller::tool("find_symbol", R"({"name":"wait"})"),
               ListedCaller::tool("read_code", R"({"place":"tma.cu:3-4"})"), written});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(out.mishaps, IsEmpty());
  EXPECT_THAT(requests()[0].tools, SizeIs(3));
  EXPECT_THAT(requests()[0].messages[0].text,
              HasSubstr("There is an index of code: lib (2 files)."));
  EXPECT_THAT(requests()[1].messages[2].text, HasSubstr("`lib/tma.cu:3-4`"));
  EXPECT_THAT(out.learned,
              ElementsAre("lib/tma.cu:3-4", "lib/wait.h:9-9", "lib/wait.h:9-9", "lib/tma.cu:3-4"));
}

TEST_F(CodeAgents, RefuseNonsenseAndSayWhatIsNotThere) {
  settings().code = CodeUse::tools;
  for (const auto& [name, arguments, said] :
       {std::tuple("search_code", "not JSON", "Expected is {\"words\": \"…\"}"),
        std::tuple("search_code", R"({"words":7})", "Expected is"),
        std::tuple("read_code", R"({"place":"x","more":1})", "Expected is"),
        std::tuple("read_code", R"({"place":"none.h"})", "none.h: is not in the index"),
        std::tuple("look_at_profile", "{}",
                   "There is no tool \"look_at_profile\"; there is "
                   "search_code, find_symbol, read_code.")}) {
    const Proposed out = propose({ListedCaller::tool(name, arguments), planned, written});
    ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
    EXPECT_THAT(out.mishaps, SizeIs(1)) << arguments;
    EXPECT_TRUE(requests()[1].messages[2].failed);
    EXPECT_THAT(requests()[1].messages[2].text, HasSubstr(said));
  }
  propose({ListedCaller::tool("find_symbol", R"({"name":"none"})"), planned, written});
  EXPECT_EQ(requests()[1].messages[2].text, "Nothing was found.");
}

TEST_F(CodeAgents, BoundWhatALookShows) {
  settings().code = CodeUse::tools;
  library_->found[0].text = std::string(50'000, '/') + "\n";
  propose({ListedCaller::tool("search_code", R"({"words":"tma"})"), planned, written});
  const std::string& shown = requests()[1].messages[2].text;
  EXPECT_LT(shown.size(), 9000U);
  EXPECT_THAT(shown, HasSubstr("lib/wait.h:9-9"));
}

TEST_F(CodeAgents, MayNotLookWithoutEnd) {
  settings().code = CodeUse::tools;
  const Called look = ListedCaller::tool("search_code", R"({"words":"tma"})");
  const Proposed endless = propose({look, look, look, look, look, look});
  EXPECT_EQ(endless.reason, "the planner calls tools without end");
}

}  // namespace
}  // namespace kernelpro
