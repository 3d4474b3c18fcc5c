#include "coordinator/propose/agents/answers.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

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

TEST(PlanAnswer, SaysWhatIsWrongWithANumber) {
  const Read<Plan> wrong =
      read_plan(answer_of(R"({"move":"tile","plan":"p","predicted_gain":"1.5x","why":"w"})"));
  EXPECT_THAT(complaint_of(wrong),
              HasSubstr("/predicted_gain: found the string \"1.5x\", expected a number. "));
}

TEST(PlanAnswer, ThatBeginsWithACommentIsUnusableInTheParsersWords) {
  for (const char* comment : {"// my plan\n", "/* my plan */", "/* my */ // plan\n"}) {
    const Read<Plan> read =
        read_plan(answer_of(std::string("{ ") + comment + std::string(good_plan).substr(1)));
    EXPECT_EQ(mishap_of(read), "unusable JSON");
    EXPECT_THAT(complaint_of(read), HasSubstr("not valid JSON: "));
  }
}

TEST(PlanAnswer, IsFoundBehindAnyNumberOfBraces) {
  std::string code = "```cpp\n";
  for (int i = 0; i < 3000; ++i) {
    code += "for (;;) { call({\"a\", 1}); if (x) { y(); } }\n";
  }
  const Read<Plan> read = read_plan(answer_of(code + "```\n" + good_plan + "\n"));
  ASSERT_TRUE(std::holds_alternative<Plan>(read)) << complaint_of(read);
  EXPECT_EQ(std::get<Plan>(read).move, "tile");
}

// Whoever looks from each brace to the end needs minutes for these.
TEST(PlanAnswer, IsReadInATimeInProportionToItsLength) {
  constexpr std::size_t many = 20'000;
  for (const std::string piece : {"{", "{\"", "{\"a", "{//", "{\"a\":", "{ {}", "//{\n"}) {
    std::string text;
    for (std::size_t i = 0; i < many; ++i) {
      text += piece;
    }
    EXPECT_NE(mishap_of(read_plan(answer_of(text))), "") << piece;
    EXPECT_NE(mishap_of(read_plan(answer_of(text + std::string(many, '}')))), "") << piece;
  }
}

TEST(PlanAnswer, HasTextsOfABoundedLength) {
  for (const char* key : {"plan", "why", "risks"}) {
    nlohmann::json plan = nlohmann::json::parse(good_plan);
    plan[key] = std::string(8000, 'x');
    EXPECT_EQ(mishap_of(read_plan(answer_of(plan.dump()))), "");
    plan[key] = std::string(200'000, 'x');
    const Read<Plan> read = read_plan(answer_of(plan.dump()));
    EXPECT_EQ(mishap_of(read), "unusable JSON");
    EXPECT_THAT(
        complaint_of(read),
        HasSubstr(std::string("/") + key + ": found 200000 bytes of text, expected at most 8000"));
  }
}

TEST(PlanAnswer, IsComplainedAboutInABoundedLength) {
  const std::string key(300'000, 'k');
  EXPECT_LT(complaint_of(read_plan(answer_of("{\"" + key + "\": 1}"))).size(), 2000U);
  EXPECT_LT(complaint_of(read_plan(answer_of("{\"plan\": \"" + key + "\n\"}"))).size(), 2000U);
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

TEST(ReviewAnswer, HasObjectionsOfABoundedLength) {
  nlohmann::json review = {{"follows_plan", true}, {"honest", true}};
  review["objections"] = std::vector<std::string>(3, std::string(3000, 'x'));
  const Read<Review> read = read_review(answer_of(review.dump()));
  EXPECT_EQ(mishap_of(read), "unusable JSON");
  EXPECT_THAT(complaint_of(read), HasSubstr("/objections: found 9000 bytes of text"));
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

TEST(CodeBlocks, StandInAsFarAsTheirFences) {
  const std::vector<CodeBlock> blocks = code_blocks(
      "1. First:\n\n    ```cpp\n    a\n      b\n\n  c\n    ```\n\t~~~\n\td\n\t\te\n\t~~~\n"
      "```\nf\n       ```\n```\n");
  ASSERT_THAT(blocks, SizeIs(3));
  EXPECT_EQ(blocks[0].text, "a\n  b\n\nc\n");
  EXPECT_EQ(blocks[1].text, "d\n\te\n");
  EXPECT_EQ(blocks[2].text, "f\n       ```\n");
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
  parent.backend = Backend::cuda;
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

TEST(SourceAnswer, TakesItsBuildFromAmongItsLeadingLines) {
  const std::string source = small_source("y[i] + x[i]");
  const std::string wanted = "// kp:options -O3 openmp\n";
  for (const std::string& text :
       {wanted + source, "\n" + wanted + source, " \n" + wanted + source,
        "\xEF\xBB\xBF" + wanted + source, "//kp:options -O3 openmp // fast\n" + source,
        "#pragma once\n" + wanted + source, "#include <cmath>\n" + wanted + source,
        "/* Mine. */\n" + wanted + source, "/*\n * Mine.\n */\n\n" + wanted + source}) {
    const Read<Candidate> read = read_cpu(block("cpp", text));
    ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << complaint_of(read);
    EXPECT_THAT(std::get<Candidate>(read).options, ElementsAre("-O3", "openmp")) << text;
    EXPECT_THAT(std::get<Candidate>(read).source, HasSubstr(source.substr(0, 30)));
  }
}

TEST(SourceAnswer, MayNameNoOptionsAtAll) {
  const Read<Candidate> read =
      read_cpu(block("cpp", "// kp:options\n" + small_source("x[i] + y[i]")));
  ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << complaint_of(read);
  EXPECT_THAT(std::get<Candidate>(read).options, IsEmpty());
}

TEST(SourceAnswer, IsNotTakenForUnchangedWhereItsBuildIsAnother) {
  EXPECT_EQ(
      mishap_of(read_cpu(block("cpp", "// kp:options -O2 target\n" + small_source("x[i] + y[i]")))),
      "unchanged");
  EXPECT_EQ(mishap_of(read_cpu(block("cpp", "// kp:options -O2\n" + small_source("x[i] + y[i]")))),
            "");
  Candidate bare = cpu_parent();
  bare.options.clear();
  const Read<Candidate> inherited =
      read_source(answer_of(block("cpp", small_source("x[i] + y[i]"))), cpu_parent(), bare);
  EXPECT_EQ(mishap_of(inherited), "");
}

TEST(SourceAnswer, IsInBlocksThatStandIn) {
  const std::string source = "// kp:options -O3\n" + small_source("y[i] + x[i]");
  for (const std::string indent : {"  ", "   ", "    ", "\t"}) {
    std::string text = "1. Do it:\n\n";
    std::istringstream lines(block("cpp", source));
    for (std::string line; std::getline(lines, line);) {
      text += indent + line + "\n";
    }
    const Read<Candidate> read = read_cpu(text);
    ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << complaint_of(read);
    EXPECT_EQ(std::get<Candidate>(read).source, source);
    EXPECT_THAT(std::get<Candidate>(read).options, ElementsAre("-O3"));
  }
}

TEST(SourceAnswer, MayStandBesideWhatOnlyNamesTheLaunch) {
  const std::string meant = block("cpp", small_source("y[i] + x[i]"));
  for (const char* beside :
       {"int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count);\n",
        "kp_launch(&context, tensors, 3);\n", "if (kp_launch(&context, tensors, 3) != 0) {\n}\n",
        "if (kp_launch(&context, tensors, 3)) {\n  return;\n}\n",
        "int my_kp_launch(int x) {\n  return x;\n}\n"}) {
    const Read<Candidate> read = read_cpu(block("cpp", beside) + meant);
    ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << beside << complaint_of(read);
    EXPECT_EQ(std::get<Candidate>(read).source, small_source("y[i] + x[i]"));
  }
}

TEST(SourceAnswer, MayDefineTheLaunchInAnyForm) {
  for (const char* source :
       {"extern \"C\" int kp_launch(const kp_context*, const kp_tensor*, int32_t) noexcept {\n",
        "auto kp_launch (const kp_context* c, int (*f)(int)) -> int\n{\n",
        "int kp_launch(const kp_context*) try {\n"}) {
    EXPECT_EQ(mishap_of(read_cpu(block("cpp", std::string(source) + "  return 0;\n}\n"))), "")
        << source;
  }
}

TEST(SourceAnswer, MaySpeakOfAnotherLanguage) {
  for (const char* line : {"// Unlike a __global__ kernel, one loop.\n", "/* <<< tuned */\n",
                           "static const char* const note = \"__global__ f<<<1, 2>>>\";\n"}) {
    EXPECT_EQ(mishap_of(read_cpu(block("cpp", line + small_source("y[i] + x[i]")))), "") << line;
  }
}

TEST(SourceAnswer, IsNotWhatOnlyChanges) {
  const std::string change =
      "--- a/x.cpp\n+++ b/x.cpp\n@@ -1,3 +1,3 @@\n-int kp_launch(const kp_context* c) {\n"
      "+int kp_launch(const kp_context* context) {\n   return 0;\n }\n";
  for (const char* language : {"diff", "patch", "cpp", ""}) {
    const Read<Candidate> read = read_cpu(block(language, change));
    EXPECT_EQ(mishap_of(read), "no kp_launch") << language;
    EXPECT_THAT(complaint_of(read), HasSubstr("Expected is the complete source"));
  }
  EXPECT_EQ(mishap_of(read_cpu(block("diff", change) + block("cpp", small_source("y[i] + x[i]")))),
            "");
}

TEST(SourceAnswer, MayBeWithoutAFenceWhereItIsAll) {
  const std::string source = "// kp:options -O3\n" + small_source("y[i] + x[i]");
  ASSERT_THAT(source, HasSubstr("kernelpro/candidate.h"));
  const Read<Candidate> read = read_cpu("\n" + source + "\n\n");
  ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << complaint_of(read);
  EXPECT_EQ(std::get<Candidate>(read).source, source);
  EXPECT_THAT(std::get<Candidate>(read).options, ElementsAre("-O3"));
  EXPECT_EQ(mishap_of(read_cpu("Here it is:\n\n" + source)), "no code");
  EXPECT_EQ(mishap_of(read_cpu(source + "\nThat is twice as fast.\n")), "no code");
}

TEST(SourceAnswer, GetsTheParentsHeadersBack) {
  const std::string header =
      "// kp:include begin own.h #include \"own.h\"\nint own();\n// kp:include end own.h\n";
  Candidate parent = cpu_parent();
  parent.source = header + parent.source;
  const std::string answered = small_source("y[i] + x[i]");
  const Read<Candidate> read =
      read_source(answer_of(block("cpp", "#include \"own.h\"\n" + answered)), parent, cpu_parent());
  ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << complaint_of(read);
  EXPECT_EQ(std::get<Candidate>(read).source, header + answered);
}

TEST(SourceAnswer, IsOfABoundedLength) {
  const std::string source = small_source("y[i] + x[i]") + "// " + std::string(7000, 'x') + "\n";
  const ChatAnswer answer = answer_of(block("cpp", source));
  EXPECT_EQ(mishap_of(read_source(answer, cpu_parent(), cpu_parent(), 3000)), "");
  const Read<Candidate> read = read_source(answer, cpu_parent(), cpu_parent(), 2000);
  EXPECT_EQ(mishap_of(read), "too long");
  EXPECT_THAT(complaint_of(read), HasSubstr(" tokens, and 2000 is the most that whoever goes on"));
}

TEST(SourceAnswer, IsTheOnlyBlockThatDefinesTheLaunch) {
  const Read<Candidate> read =
      read_cuda("Before:\n" + block("cpp", "int x;  // kp_launch(…) comes later\n") + "Now:\n" +
                block("cuda", cuda_source("out[i] = y[i] + x[i];")) + block("", "nvcc -O3\n"));
  ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << complaint_of(read);
  EXPECT_EQ(std::get<Candidate>(read).source, cuda_source("out[i] = y[i] + x[i];"));
  EXPECT_THAT(std::get<Candidate>(read).options, ElementsAre("-O3"));
}

TEST(SourceAnswer, IsBehindTheThoughtsOfAModelThatThinksAloud) {
  const std::string draft = block("cpp", small_source("y[i] * x[i]"));
  const std::string meant = block("cpp", small_source("y[i] + x[i]"));
  for (const std::string& text :
       {"<think>First\n" + draft + "no.</think>\n" + meant, draft + "</think>\n\n" + meant,
        "<think>\n" + meant + "\n</think>\n"}) {
    const Read<Candidate> read = read_cpu(text);
    ASSERT_TRUE(std::holds_alternative<Candidate>(read)) << complaint_of(read);
    EXPECT_EQ(std::get<Candidate>(read).source, small_source("y[i] + x[i]"));
  }
}

TEST(SourceAnswer, ThatCannotBeUsedSaysWhy) {
  const std::string good = block("cpp", small_source("y[i] + x[i]"));
  EXPECT_EQ(mishap_of(read_cpu(good, StopReason::length)), "truncated");
  EXPECT_EQ(mishap_of(read_cpu("I cannot do that.", StopReason::refusal)), "refusal");
  EXPECT_EQ(mishap_of(read_cpu("You should tile the loop, then vectorize it.")), "no code");
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
