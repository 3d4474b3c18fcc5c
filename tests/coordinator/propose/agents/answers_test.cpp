#include "coordinator/propose/agents/answers.hpp"

#include <nlohmann/json.hpp>

#include "coordinator/propose/agents/code_blocks.hpp"
#include "coordinator/propose/agents/fixture.hpp"
#include "support/schema.hpp"

namespace kernelpro::agents {
namespace {

using kernelpro::testing::answer_of;
using kernelpro::testing::cuda_source;
using kernelpro::testing::SchemaFile;
using kernelpro::testing::small_candidate;
using kernelpro::testing::small_source;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* good_plan =
    R"({"move": "tile", "plan": "Tile by 32.", "predicted_gain": 1.5, "why": "Less traffic."})";

template <typename T>
std::string mishap_of(const Read<T>& read) {
  const Mishap* mishap = std::get_if<Mishap>(&read);
  return mishap == nullptr ? "" : std::string(name_of(mishap->kind));
}

template <typename T>
std::string complaint_of(const Read<T>& read) {
  const Mishap* mishap = std::get_if<Mishap>(&read);
  return mishap == nullptr ? "" : mishap->complaint;
}

TEST(PlanAnswer, IsReadBareOrFencedOrBetweenProse) {
  const std::string plan = good_plan;
  for (const std::string& text :
       {plan, "```json\n" + plan + "\n```",
        "I looked at f(x) { return; } first.\n\n" + plan + "\nThat is all {so far}."}) {
    const Read<Plan> read = read_plan(answer_of(text));
    ASSERT_TRUE(std::holds_alternative<Plan>(read)) << text << complaint_of(read);
    EXPECT_EQ(std::get<Plan>(read).move, "tile");
    EXPECT_EQ(std::get<Plan>(read).plan, "Tile by 32.");
    EXPECT_EQ(std::get<Plan>(read).predicted_gain, 1.5);
  }
}

TEST(PlanAnswer, MayHaveBracesAndQuotesInItsTexts) {
  const Read<Plan> read = read_plan(answer_of(
      R"({"move":"a_b2","plan":"use \"{\" and }}","predicted_gain":2,"why":"w","risks":"r"})"));
  ASSERT_TRUE(std::holds_alternative<Plan>(read)) << complaint_of(read);
  EXPECT_EQ(std::get<Plan>(read).plan, "use \"{\" and }}");
  EXPECT_EQ(std::get<Plan>(read).risks, "r");
}

TEST(PlanAnswer, IsTheLastOneThatFits) {
  const Read<Plan> read = read_plan(answer_of(
      std::string("First {\"move\": \"x\"}, then ") + good_plan + ", or rather " +
      R"({"move":"fuse","plan":"Fuse.","predicted_gain":3,"why":"One launch."} and {"a":1})"));
  ASSERT_TRUE(std::holds_alternative<Plan>(read));
  EXPECT_EQ(std::get<Plan>(read).move, "fuse");
}

TEST(PlanAnswer, ThatCannotBeUsedSaysWhy) {
  EXPECT_EQ(mishap_of(read_plan(answer_of("I would tile the loops."))), "no JSON");
  EXPECT_EQ(mishap_of(read_plan(answer_of(good_plan, StopReason::length))), "truncated");
  EXPECT_EQ(mishap_of(read_plan(answer_of("", StopReason::refusal))), "refusal");
  const Read<Plan> wrong =
      read_plan(answer_of(R"({"move":"tile","plan":"p","predicted_gain":"twice","why":"w"})"));
  EXPECT_EQ(mishap_of(wrong), "unusable JSON");
  EXPECT_THAT(complaint_of(wrong),
              HasSubstr("/predicted_gain: found the string \"twice\", expected a number"));
  EXPECT_THAT(complaint_of(read_plan(answer_of(R"({"move":"tile","plan":"p"})"))),
              HasSubstr("predicted_gain"));
}

// The schema is for whoever answers; the reader decides.
TEST(PlanAnswer, FitsItsSchemaExactlyWhenItIsRead) {
  const SchemaFile schema("agent_plan.json");
  const nlohmann::json good = nlohmann::json::parse(good_plan);
  std::vector<nlohmann::json> cases = {good};
  const auto with = [&good, &cases](const char* key, const nlohmann::json& value) {
    nlohmann::json changed = good;
    changed[key] = value;
    cases.push_back(changed);
  };
  with("risks", "some");
  with("risks", "");
  with("risks", nullptr);
  with("move", "Tile");
  with("move", "");
  with("move", "2x");
  with("move", std::string(64, 'a'));
  with("move", std::string(65, 'a'));
  with("plan", " \n");
  with("plan", nlohmann::json::array());
  with("why", "");
  with("predicted_gain", 2);
  with("predicted_gain", -1);
  with("predicted_gain", nullptr);
  with("predicted_gain", "2");
  with("confidence", 0.9);
  for (const char* key : {"move", "plan", "predicted_gain", "why"}) {
    nlohmann::json changed = good;
    changed.erase(key);
    cases.push_back(changed);
  }
  for (const nlohmann::json& one : cases) {
    EXPECT_EQ(mishap_of(read_plan(answer_of(one.dump()))).empty(), schema.complaints(one).empty())
        << one.dump() << "\n"
        << schema.complaints(one);
  }
}

TEST(ReviewAnswer, FitsItsSchemaExactlyWhenItIsRead) {
  const SchemaFile schema("agent_review.json");
  for (const char* text : {R"({"follows_plan":true,"honest":true,"objections":[]})",
                           R"({"follows_plan":false,"honest":true,"objections":["a","b"]})",
                           R"({"follows_plan":"yes","honest":true,"objections":[]})",
                           R"({"follows_plan":true,"honest":1,"objections":[]})",
                           R"({"follows_plan":true,"honest":true,"objections":"none"})",
                           R"({"follows_plan":true,"honest":true,"objections":[3]})",
                           R"({"follows_plan":true,"honest":true})",
                           R"({"follows_plan":true,"honest":true,"objections":[],"score":1})"}) {
    EXPECT_EQ(mishap_of(read_review(answer_of(text))).empty(),
              schema.complaints(nlohmann::json::parse(text)).empty())
        << text;
  }
}

TEST(CodeBlocks, AreFoundBetweenFences) {
  const std::vector<CodeBlock> blocks =
      code_blocks("Text\n```CUDA title\na\n```\n~~~\nb\n```\n~~~\n````cpp\n```\nc\n````\nend");
  ASSERT_THAT(blocks, SizeIs(3));
  EXPECT_EQ(blocks[0].language, "cuda");
  EXPECT_EQ(blocks[0].text, "a\n");
  EXPECT_EQ(blocks[1].text, "b\n```\n");
  EXPECT_EQ(blocks[2].text, "```\nc\n");
  EXPECT_THAT(code_blocks("no ```code``` here"), IsEmpty());
  EXPECT_THAT(code_blocks("```cpp\nint x;\n"), SizeIs(1));
}

std::string block(const std::string& language, const std::string& text) {
  return "```" + language + "\n" + text + "```\n";
}

Candidate cpu_parent() {
  Candidate parent = small_candidate(small_source("x[i] + y[i]"));
  parent.options = {"-O2", "target"};
  return parent;
}

Read<Candidate> read_cpu(const std::string& text, StopReason stop = StopReason::done) {
  return read_source(answer_of(text, stop), cpu_parent(), cpu_parent());
}

Read<Candidate> read_cuda(const std::string& text) {
  Candidate parent = cpu_parent();
  parent.backend = "cuda";
  parent.compiler = "nvcc";
  return read_source(answer_of(text), parent, parent);
}

TEST(SourceAnswer, KeepsTheParentsBuildWhereItNamesNone) {
  const Read<Candidate> read = read_cpu("Here:\n" + block("cpp", small_source("y[i] + x[i]")));
  ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << complaint_of(read);
  EXPECT_EQ(std::get<Candidate>(read).source, small_source("y[i] + x[i]"));
  EXPECT_THAT(std::get<Candidate>(read).options, ElementsAre("-O2", "target"));
}

TEST(SourceAnswer, TakesItsBuildFromItsFirstLines) {
  const Read<Candidate> options =
      read_cpu(block("c++", "// kp:options -O3 openmp\n" + small_source("x[i] + y[i]")));
  ASSERT_TRUE(std::holds_alternative<Candidate>(options)) << complaint_of(options);
  EXPECT_THAT(std::get<Candidate>(options).options, ElementsAre("-O3", "openmp"));
  const Read<Candidate> compiler =
      read_cpu(block("cpp", "// kp:compiler clang++-19\n" + small_source("x[i] + y[i]")));
  ASSERT_TRUE(std::holds_alternative<Candidate>(compiler)) << complaint_of(compiler);
  EXPECT_EQ(std::get<Candidate>(compiler).compiler, "clang++-19");
  EXPECT_THAT(std::get<Candidate>(compiler).options, IsEmpty());
}

TEST(SourceAnswer, IsTheOnlyBlockThatDefinesTheLaunch) {
  const Read<Candidate> read =
      read_cuda("Before:\n" + block("cpp", "int x;  // kp_launch(…) comes later\n") + "Now:\n" +
                block("cuda", cuda_source("out[i] = y[i] + x[i];")) + block("", "nvcc -O3\n"));
  ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << complaint_of(read);
  EXPECT_EQ(std::get<Candidate>(read).source, cuda_source("out[i] = y[i] + x[i];"));
  EXPECT_THAT(std::get<Candidate>(read).options, ElementsAre("-O3"));
}

TEST(SourceAnswer, ThatCannotBeUsedSaysWhy) {
  const std::string good = block("cpp", small_source("y[i] + x[i]"));
  EXPECT_EQ(mishap_of(read_cpu(good, StopReason::length)), "truncated");
  EXPECT_EQ(mishap_of(read_cpu("I cannot do that.", StopReason::refusal)), "refusal");
  EXPECT_EQ(mishap_of(read_cpu("You should tile the loop, then vectorise it.")), "no code");
  EXPECT_EQ(mishap_of(read_cpu(good + block("cpp", small_source("x[i] - -y[i]")))), "two sources");
  EXPECT_EQ(mishap_of(read_cpu(block("cpp", "void launch() {}\n"))), "no kp_launch");
  EXPECT_EQ(mishap_of(read_cpu(block("cpp", "// kp_launch(context) is gone\nint x;\n"))),
            "no kp_launch");
  EXPECT_EQ(mishap_of(read_cpu(block("cpp", small_source("x[i] + y[i]")))), "unchanged");
  EXPECT_EQ(mishap_of(read_cpu(block("cpp", "// new\n\n" + small_source("x[i]  +  y[i]")))),
            "unchanged");
  EXPECT_EQ(mishap_of(read_cpu(block("cuda", cuda_source()))), "wrong language");
  EXPECT_EQ(mishap_of(read_cuda(block("python", "import torch\n"))), "wrong language");
  EXPECT_EQ(mishap_of(read_cuda(block("", "import triton\n\n@triton.jit\ndef add(x):\n  pass\n"))),
            "wrong language");
  EXPECT_EQ(mishap_of(read_cuda(block("python", "source = '''int kp_launch(int);'''\n"))),
            "wrong language");
  EXPECT_THAT(complaint_of(read_cuda(block("python", "import torch\n"))),
              HasSubstr("begins with ```cuda"));
}

}  // namespace
}  // namespace kernelpro::agents
