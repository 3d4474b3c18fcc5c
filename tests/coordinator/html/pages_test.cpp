#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/html/conversation.hpp"
#include "coordinator/html/diagnosis_page.hpp"
#include "coordinator/html/runs.hpp"
#include "coordinator/html/tags.hpp"
#include "support/profiles.hpp"

namespace kernelpro::html {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string hostile =
    "</pre></title></style><script>alert(\"1\")</script><img src=x onerror='a()'>";

// All that pages are made of.
const std::vector<std::string> our_elements = {
    "a",      "article", "body",    "circle",  "details",  "div",   "g",       "h1",
    "h2",     "h3",      "head",    "html",    "li",       "line",  "main",    "nav",
    "ol",     "p",       "pre",     "polygon", "polyline", "rect",  "section", "span",
    "strong", "style",   "summary", "svg",     "table",    "tbody", "td",      "text",
    "th",     "thead",   "title",   "tr",      "ul"};

const std::vector<std::string> our_attributes = {"aria-hidden",
                                                 "aria-label",
                                                 "class",
                                                 "cx",
                                                 "cy",
                                                 "height",
                                                 "href",
                                                 "id",
                                                 "lang",
                                                 "points",
                                                 "r",
                                                 "role",
                                                 "scope",
                                                 "text-anchor",
                                                 "viewBox",
                                                 "width",
                                                 "x",
                                                 "x1",
                                                 "x2",
                                                 "y",
                                                 "y1",
                                                 "y2",
                                                 "preserveAspectRatio"};

// Whatever was put into it, a page has our elements and attributes only, and leads nowhere else.
void expect_harmless(const std::string& page) {
  std::set<std::string> elements;
  std::set<std::string> attributes;
  for (const Tag& tag : tags_in(page)) {
    elements.insert(tag.name);
    for (const auto& [key, value] : tag.attributes) {
      attributes.insert(key);
      EXPECT_TRUE(key != "href" || value.starts_with("#")) << value;
    }
  }
  EXPECT_THAT(elements, IsSubsetOf(our_elements));
  EXPECT_THAT(attributes, IsSubsetOf(our_attributes));
  const std::string style = page.substr(page.find("<style>"), page.find("</style>"));
  EXPECT_THAT(style.substr(0, style.find("</style>")),
              AllOf(Not(HasSubstr("url(")), Not(HasSubstr("@import"))));
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
}

LlmCall sample_call(const std::string& id, const std::string& request, const std::string& answer) {
  LlmCall call;
  call.id = id;
  call.node = 3;
  call.state = CallState::answered;
  call.answered_by = "a model";
  call.request = request;
  call.answer = nlohmann::json({{"text", answer}, {"calls", nlohmann::json::array()}}).dump();
  call.usage = {1200, 0, 0, 34};
  call.priced = true;
  call.cost = 31'200'000;
  return call;
}

std::string request_with(const std::string& system, const std::string& user) {
  return nlohmann::json(
             {{"messages",
               {{{"role", "system"}, {"content", system}}, {{"role", "user"}, {"content", user}}}}})
      .dump();
}

// The text between a section's title and the next section.
std::string section(const std::string& page, const std::string& id) {
  const std::size_t begin = page.find("<section id=\"" + id + "\">");
  return begin == std::string::npos ? ""
                                    : page.substr(begin, page.find("</section>", begin) - begin);
}

TEST(RunPage, BeginsWithAPlainSentence) {
  const std::string page = run_page(sample_page());
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  EXPECT_THAT(page,
              HasSubstr("<h1>Run small-1</h1><p class=\"sentence\">small runs 6.00 times as fast "
                        "as its baseline on Some CPU; this was measured against the baseline again "
                        "at the end and is confirmed (95 % interval 5.40 to 6.60).</p><nav"));
  expect_harmless(page);
}

TEST(RunPage, HasAllParts) {
  RunPage run = sample_page();
  run.report.nodes[3].diagnosis.text = "memory is used up";
  run.report.nodes[3].diagnosis.share_of_bound = 0.82;
  run.report.nodes[3].diagnosis.findings = {sample_finding()};
  run.report.nodes[3].diagnosis.findings[0].places = {{"candidate.cu", 2}, {"/usr/x.h", 1}};
  run.calls = {sample_call("3.coder.1", request_with("be brief", "go"), "here it is")};
  const std::string page = run_page(run);
  expect_harmless(page);
  EXPECT_THAT(of_class(tags_in(section(page, "progress") + "</section>"), "evaluation"), SizeIs(5));
  EXPECT_THAT(section(page, "tree"), HasSubstr(" 4 passed"));
  EXPECT_THAT(section(page, "roofline"), HasSubstr("memory 10 GB/s"));
  EXPECT_THAT(section(page, "verdicts"),
              AllOf(HasSubstr("<tr id=\"node-3\">"), HasSubstr("6.00 [5.40, 6.60]"),
                    HasSubstr("passed, confirmed, the best"), HasSubstr("82 %"),
                    HasSubstr("<td>incorrect</td>"), HasSubstr("<td>same as 2</td>")));
  EXPECT_THAT(section(page, "difference"),
              AllOf(HasSubstr("<span class=\"row removed\">-int b;</span>"),
                    HasSubstr("<span class=\"row added\">+float b;</span>")));
  EXPECT_THAT(section(page, "diagnosis"),
              AllOf(HasSubstr("memory is used up"), HasSubstr("predicted gain 1.85"),
                    HasSubstr("<span class=\"row marked\"><span class=\"count\">    2  "
                              "</span>float b;<span class=\"count\">   ← uncoalesced</span>"),
                    HasSubstr("<span class=\"row\"><span class=\"count\">    1  </span>int a;")));
  EXPECT_THAT(section(page, "models"), AllOf(HasSubstr("1200 tokens in, 34 out, $0.0312"),
                                             HasSubstr("here it is"), HasSubstr("be brief")));
}

TEST(RunPage, ShowsWhatWasFoundOnTheWay) {
  RunPage run = sample_page();
  Node& first = run.path.front().node;
  first.diagnosis.text = "one thread does it all";
  first.diagnosis.findings = {sample_finding()};
  first.diagnosis.findings[0].places = {{"candidate.cu", 1}};
  run.path.front().certificate.candidate.source = "int old_line;\n";
  EXPECT_THAT(section(run_page(run), "diagnosis"),
              AllOf(HasSubstr("on the way, in node 0: Threads of a warp"),
                    HasSubstr("one thread does it all."), HasSubstr("</span>int old_line;")));
}

TEST(RunPage, LeavesOutWhatThereIsNot) {
  RunPage run;
  run.report = make_run_report(sample_run(), {}, {});
  const std::string page = run_page(run);
  expect_harmless(page);
  EXPECT_THAT(page, HasSubstr("No candidate of small has been judged."));
  for (const char* const id :
       {"progress", "tree", "roofline", "difference", "models", "verdicts"}) {
    EXPECT_EQ(section(page, id), "") << id;
    EXPECT_THAT(page, Not(HasSubstr("href=\"#" + std::string(id) + "\"")));
  }
}

TEST(RunPage, ATaskWithoutArithmeticHasNoRooflineAndSaysSo) {
  RunPage run = sample_page();
  for (PathStep& step : run.path) {
    step.certificate.task.work.flops = formula("0");
  }
  EXPECT_THAT(section(run_page(run), "roofline"), HasSubstr("the task declares no arithmetic"));
}

TEST(RunPage, HostileTextIsShownAndNotObeyed) {
  RunPage run = sample_page();
  RunReport& report = run.report;
  report.run.id += hostile;
  report.run.task.name = hostile;
  report.run.task.summary = hostile;
  report.run.machine = hostile;
  report.run.ended_because = hostile;
  report.remarks = {hostile};
  report.faster = {{2, hostile}};
  for (Node& node : report.nodes) {
    node.move = node.site = node.plan = node.rule = node.summary = node.precision = hostile;
    node.compiler = hostile;
    node.options = {hostile};
    node.diagnosis.text = hostile;
    Finding finding = sample_finding();
    finding.tool = finding.kernel = finding.title = finding.unit = finding.why = hostile;
    finding.cause = finding.derivation = hostile;
    finding.moves = {hostile};
    finding.places = {{"candidate.cu", 1}};
    node.diagnosis.findings = {finding};
  }
  report.moves.front().move = hostile;
  for (PathStep& step : run.path) {
    step.node = report.nodes[1];
    step.node.id = 1;
  }
  run.baseline_source = hostile + "\n";
  run.best_source = "--" + hostile + "\n" + hostile;
  run.calls = {sample_call(hostile, request_with(hostile, hostile + "2"), hostile),
               sample_call("b", hostile, hostile)};
  run.calls[0].answered_by = run.calls[0].failure = hostile;
  run.calls[1].answer = hostile;
  const std::string page = run_page(run);
  expect_harmless(page);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img"))));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"));
}

TEST(DiagnosisPage, BeginsWithAPlainSentenceAndHasAllParts) {
  const std::string page = diagnosis_page(sample_diagnosed());
  expect_harmless(page);
  EXPECT_THAT(page, HasSubstr("<p class=\"sentence\">On Some GPU, ./scale --size 4096 is held back "
                              "by the GPU&#39;s memory (90 % sure, by its main kernel "
                              "scale(float*)). The most promising finding is &quot;Threads of a "
                              "warp read addresses far apart&quot;: removing it is predicted to "
                              "make it 1.85 times as fast.</p>"));
  EXPECT_THAT(section(page, "facts"), HasSubstr("not read: the driver denies them"));
  EXPECT_THAT(of_class(tags_in(section(page, "kernels") + "</section>"), "bar"), SizeIs(2));
  EXPECT_THAT(section(page, "findings"),
              AllOf(HasSubstr("<article class=\"finding high\">"), HasSubstr("scale.cu:12"),
                    HasSubstr("y[i] = a * x[i * 32];"), HasSubstr("620 samples, 78 %")));
  EXPECT_THAT(section(page, "source"),
              AllOf(HasSubstr("row marked"), HasSubstr("620 samples, 78 %; finding 1")));
  EXPECT_THAT(section(page, "counters"),
              AllOf(HasSubstr("dram_use"), HasSubstr("long_scoreboard"),
                    HasSubstr("ncu does not know it on sm_90"), HasSubstr("SOLBottleneck")));
}

TEST(DiagnosisPage, OfAProgramOnProcessorsSpeaksOfFunctions) {
  Diagnosed diagnosed = sample_diagnosed();
  HostRun host;
  host.evidence = {"samples", "machine code"};
  diagnosed.profile.host = host;
  diagnosed.profile.trace.reset();
  const std::string page = diagnosis_page(diagnosed);
  expect_harmless(page);
  EXPECT_THAT(page, HasSubstr("by its main function"));
  EXPECT_THAT(section(page, "kernels"),
              AllOf(HasSubstr(">Functions<"), Not(HasSubstr("launches")), Not(HasSubstr("grid"))));
  EXPECT_THAT(section(page, "facts"), HasSubstr("machine code"));
  EXPECT_THAT(section(page, "source"), HasSubstr("Where threads were seen"));
}

TEST(DiagnosisPage, TheRooflineHasAPointForEachKernelThatWasCounted) {
  Diagnosed diagnosed = sample_diagnosed();
  Profile& profile = diagnosed.profile;
  profile.work.reset();
  profile.ceilings.list = {{"read", "GB/s", 0, 4000, 4000, 4000},
                           {"fma_f32", "GFLOP/s", 0, 60'000, 60'000, 60'000}};
  EXPECT_THAT(section(diagnosis_page(diagnosed), "roofline"), HasSubstr("There is none"));
  KernelProfile& kernel = profile.kernels.front();
  kernel.figures["fma_use"] = {0.5, Origin::counter};
  kernel.figures["dram_read_bytes"] = {5e8, Origin::counter};
  kernel.figures["dram_write_bytes"] = {0, Origin::counter};
  profile.kernels.push_back(kernel);
  profile.kernels.back().name = "other(int)";
  const NamedPlot named = roofline_of(profile);
  ASSERT_THAT(named.plot.marks, SizeIs(2));
  EXPECT_DOUBLE_EQ(named.plot.marks[0].flops, 30e12) << "half of what was measured";
  EXPECT_DOUBLE_EQ(named.plot.marks[0].intensity, 30.0) << "30 TFLOP/s by 1 TB/s";
  const std::string page = diagnosis_page(diagnosed);
  expect_harmless(page);
  EXPECT_THAT(of_class(tags_in(section(page, "roofline") + "</section>"), "point"), SizeIs(2));
}

TEST(DiagnosisPage, ATasksOwnOperationsCountWhereItDeclaresThem) {
  Profile profile = sample_profile();
  profile.ceilings.list = {{"read", "GB/s", 0, 4000, 4000, 4000},
                           {"fma_f32", "GFLOP/s", 0, 60'000, 60'000, 60'000}};
  profile.work = DeclaredWork{1e9, 2e8, 2e8, "f32", 1};
  // Two launches of half a millisecond make one call.
  const NamedPlot named = roofline_of(profile);
  ASSERT_THAT(named.plot.marks, SizeIs(1));
  EXPECT_DOUBLE_EQ(named.plot.marks[0].flops, 1e12);
  EXPECT_DOUBLE_EQ(named.plot.marks[0].intensity, 2.5);
}

TEST(DiagnosisPage, HostileTextIsShownAndNotObeyed) {
  Diagnosed diagnosed = sample_diagnosed();
  Profile& profile = diagnosed.profile;
  profile.program = profile.device = profile.architecture = profile.counters = hostile;
  profile.trace->problem = hostile;
  KernelProfile& kernel = profile.kernels.front();
  kernel.name = hostile;
  kernel.figures[hostile] = {1, Origin::counter};
  kernel.missing[hostile] = hostile;
  kernel.stalls[hostile] = 3;
  kernel.lines = {{{hostile, 12}, hostile, 5, {}}};
  kernel.rules = {{hostile, hostile, hostile, 3.0}};
  DiagnosisReport& report = diagnosed.report;
  report.reason = hostile;
  KernelDiagnosis& said = report.kernels.front();
  said.kernel = said.reason = hostile;
  said.roofs = {{hostile, 0.5, hostile}};
  said.skipped = {{hostile, hostile}};
  said.not_available = {hostile};
  Finding& finding = report.findings.front();
  finding.tool = finding.kernel = finding.title = finding.unit = finding.why = hostile;
  finding.cause = finding.derivation = hostile;
  finding.moves = {hostile};
  finding.places = {{hostile, 12}};
  diagnosed.seconds = {{hostile, 1}};
  const std::string page = diagnosis_page(diagnosed);
  expect_harmless(page);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img"))));
}

TEST(Conversation, ReadsTheFormsOfAllProviders) {
  const auto said = [](const std::string& request) {
    std::vector<std::string> out;
    for (const Utterance& one : utterances_of(request)) {
      out.push_back(one.speaker + ": " + one.text);
    }
    return out;
  };
  EXPECT_THAT(said(request_with("s", "u")), ElementsAre("system: s", "user: u"));
  EXPECT_THAT(said(R"({"system":[{"type":"text","text":"s"}],
      "messages":[{"role":"user","content":[{"type":"text","text":"u"},{"type":"text","text":"v"}]}]})"),
              ElementsAre("system: s", "user: u\nv"));
  EXPECT_THAT(said(R"({"messages":[{"role":"assistant","content":null,"tool_calls":[1]}, 7]})"),
              ElementsAre("assistant: [\n  1\n]", "unknown: 7"));
  EXPECT_THAT(said("no JSON <b>"), ElementsAre("request: no JSON <b>"));
  EXPECT_THAT(said(""), SizeIs(0));
  EXPECT_EQ(answer_text(R"({"text":"yes","calls":[]})"), "yes");
  EXPECT_EQ(answer_text("torn {"), "torn {");
}

TEST(Conversation, SaysTheSameWordsOnce) {
  const std::string html =
      conversation_view({sample_call("1.coder.1", request_with("the long rules", "a"), "x"),
                         sample_call("2.coder.1", request_with("the long rules", "b"), "y")})
          .str();
  EXPECT_EQ(html.find("the long rules"), html.rfind("the long rules"));
  EXPECT_THAT(html, HasSubstr("system: the same words as in call 1.coder.1"));
}

}  // namespace
}  // namespace kernelpro::html
