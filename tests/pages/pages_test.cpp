// Pages of real runs and real profiles in a real browser: they ask for nothing, complain of nothing
// and show what the data say.
#include <gmock/gmock.h>
#include <zlib.h>

#include "cli/examples.hpp"
#include "common/wire/profile_json.hpp"
#include "pages/browser.hpp"
#include "support/defect_cases.hpp"
#include "support/profiles.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Texts of pictures that lie on each other or are cut off, in all pictures, the folded ones too.
constexpr char bad_texts[] = R"js((() => {
  document.querySelectorAll('details').forEach(one => { one.open = true; });
  const bad = [];
  for (const picture of document.querySelectorAll('.picture svg')) {
    const whole = picture.getBoundingClientRect();
    const texts = [...picture.querySelectorAll('text')];
    const boxes = texts.map(text => text.getBoundingClientRect());
    boxes.forEach((a, i) => {
      if (a.left < whole.left - 1 || a.right > whole.right + 1 || a.top < whole.top - 1 ||
          a.bottom > whole.bottom + 1) {
        bad.push('cut off: ' + texts[i].textContent);
      }
      boxes.slice(i + 1).forEach((b, j) => {
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3) {
          bad.push(texts[i].textContent + ' lies on ' + texts[i + 1 + j].textContent);
        }
      });
    });
  }
  return bad;
})())js";

// The least contrast of text with what is behind it, as the guidelines for accessible pages count.
constexpr char least_contrast[] = R"js((() => {
  const parts = color => color.match(/[0-9.]+/g).map(Number);
  const light = color => {
    const [r, g, b] = parts(color).slice(0, 3).map(
        v => v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = one => {
    for (; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if (parts(color)[3] !== 0) { return color; }
    }
    return 'rgb(255, 255, 255)';
  };
  let least = 100;
  for (const one of document.querySelectorAll('p, h1, h2, h3, a, th, td, summary, span, text')) {
    const style = getComputedStyle(one);
    const [a, b] = [light(one.tagName === 'text' ? style.fill : style.color), light(behind(one))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})())js";

std::string count_of(const std::string& selector) {
  return "document.querySelectorAll('" + selector + "').length";
}

class Pages : public Cli {
 protected:
  void SetUp() override {
    const std::optional<std::string> program = find_chromium();
    if (!program) {
      FAIL() << "there is no chromium: install Debian's chromium";
    }
    browser_.emplace(*program, temporary() / "browser");
  }

  [[nodiscard]] fs::path page() const { return fs::canonical(work()) / "page.html"; }
  Browser& browser() { return *browser_; }

  // What holds for every page.
  void expect_sound() {
    browser().open(page());
    std::vector<std::string> asked;
    for (const Json& request : browser().happened("Network.requestWillBeSent")) {
      asked.push_back(request["request"]["url"]);
    }
    EXPECT_THAT(asked, ElementsAre("file://" + page().string())) << "a page asks for nothing else";
    for (const bool phone : {false, true}) {
      browser().be_wide(phone ? 360 : 1100, 900);
      EXPECT_EQ(browser().evaluate(bad_texts), Json::array()) << (phone ? "on a phone" : "");
      EXPECT_LE(browser().evaluate("document.documentElement.scrollWidth"), phone ? 360 : 1100);
    }
    for (const char* const scheme : {"light", "dark"}) {
      browser().prefer(scheme);
      EXPECT_GE(browser().evaluate(least_contrast), 4.5) << scheme;
    }
    EXPECT_EQ(browser().evaluate("getComputedStyle(document.body).backgroundColor"),
              "rgb(18, 22, 27)");
    browser().prefer("dark", "print");
    EXPECT_EQ(browser().evaluate("getComputedStyle(document.body).backgroundColor"),
              "rgb(255, 255, 255)")
        << "paper is white";
    browser().prefer("light");
    EXPECT_EQ(browser().evaluate(count_of("script, img, link, iframe, object, embed")), 0);
    for (const char* const complaint : {"Runtime.consoleAPICalled", "Runtime.exceptionThrown",
                                        "Log.entryAdded", "Page.javascriptDialogOpening"}) {
      EXPECT_THAT(browser().happened(complaint), IsEmpty()) << complaint;
    }
  }

  // Every link within the page leads to something.
  void expect_links_lead_somewhere() {
    EXPECT_EQ(browser().evaluate("[...document.querySelectorAll('a')].map(a => "
                                 "a.getAttribute('href')).filter(h => !document.getElementById("
                                 "h.slice(1)))"),
              Json::array());
  }

 private:
  std::optional<Browser> browser_;
};

class RunPages : public Pages, public ::testing::WithParamInterface<std::string> {};

TEST_P(RunPages, ShowWhatTheRecordedRunsSay) {
  expect_exit(kernelpro(example_command(GetParam())), 0);
  const std::string run =
      Json::parse(content_of(example_folder(GetParam()) / "report.json"))["run"];
  const Finished written = kernelpro({"report", run, "--html", "page.html"});
  expect_exit(written, 0);
  EXPECT_EQ(written.errors, "kernelpro: the page is page.html\n");
  expect_sound();
  expect_links_lead_somewhere();
  const Json report = json({"report", run}, "cli_report.json", 0);
  const std::string sentence = written.output.substr(0, written.output.find('\n'));
  EXPECT_EQ(browser().evaluate("document.querySelector('p').textContent"), sentence);
  EXPECT_EQ(browser().evaluate(count_of(".curve .evaluation")), report["evaluations"]);
  EXPECT_EQ(browser().evaluate(count_of(".curve .passed")), report["verdicts"]["passed"]);
  const int nodes = browser().evaluate(count_of("#verdicts tbody tr"));
  EXPECT_EQ(nodes, report["evaluations"].get<int>() + 1 + report["unwritten"].get<int>() +
                       report["duplicates"].get<int>());
  EXPECT_EQ(browser().evaluate(count_of(".tree .node")), nodes);
  EXPECT_EQ(browser().evaluate(count_of(".tree .edge")), nodes - 1);
  const auto steps = static_cast<int>(report["best"]["moves"].size());
  EXPECT_EQ(browser().evaluate(count_of(".tree .edge.best")), steps);
  EXPECT_EQ(browser().evaluate("document.querySelector('.roofline').querySelectorAll('.point')"
                               ".length"),
            steps + 1);
  EXPECT_THAT(browser().evaluate("document.querySelector('.tree .ring').closest('.node')"
                                 ".querySelector('title').textContent"),
              HasSubstr("node " + report["best"]["id"].dump() + ": " +
                        report["best"]["move"].get<std::string>()));
  EXPECT_EQ(browser().evaluate(count_of("#models > details")), report["llm"]["answered"]);
  EXPECT_GT(browser().evaluate(count_of("#difference .added")), 10);
  if (GetParam() == "gemm_cuda") {  // a GPU's profile led to the findings
    EXPECT_THAT(browser().evaluate("document.querySelector('#diagnosis article').textContent"),
                HasSubstr("A matrix product in f32 without tensor cores"));
    EXPECT_THAT(browser().evaluate("document.querySelector('#diagnosis .marked').textContent"),
                HasSubstr("   22  "));
  }
}

INSTANTIATE_TEST_SUITE_P(All, RunPages, ::testing::Values("option_prices_cpu", "gemm_cuda"),
                         [](const auto& one) { return one.param; });

// The captured profiles of bench/defects, the one of that name.
Profile captured_profile(const std::string& name) {
  const char* const path = KERNELPRO_SOURCE_DIR "/bench/results/h200/defects.jsonl.gz";
  gzFile file = gzopen(path, "rb");
  std::string text;
  std::string piece(1 << 16, '\0');
  for (int read = 0; file != nullptr && (read = gzread(file, piece.data(),
                                                       static_cast<unsigned>(piece.size()))) > 0;) {
    text.append(piece, 0, static_cast<std::size_t>(read));
  }
  gzclose(file);
  // The ceilings of all are in the first line.
  const std::size_t at = text.find("\"" + name + "\"");
  EXPECT_NE(at, std::string::npos) << name;
  const std::size_t begin = text.rfind('\n', at) + 1;
  const Result<std::vector<DefectCase>> cases = parse_defect_cases(
      text.substr(0, text.find('\n') + 1) + text.substr(begin, text.find('\n', at) - begin) + "\n");
  EXPECT_TRUE(cases.ok()) << cases.error().text();
  Profile profile = cases->front().profile;
  profile.work.reset();
  return profile;
}

TEST_F(Pages, ADiagnosisOfAGpusProfileHasItsPointItsFindingsAndItsCounters) {
  const Profile profile = captured_profile("tensor_cores_unused/square_f16/fma8x8");
  write(work() / "profile.json", to_json(profile).dump());
  const Json again = json({"diagnose", "--profile", "profile.json", "--html", "page.html"},
                          "cli_diagnose.json", 0);
  expect_sound();
  expect_links_lead_somewhere();
  const Json& findings = again["diagnosis"]["findings"];
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(browser().evaluate(count_of(".roofline .point")), profile.kernels.size());
  EXPECT_EQ(browser().evaluate(count_of("#findings article")), findings.size());
  EXPECT_THAT(browser().evaluate("document.querySelector('#findings h3').textContent"),
              "1. " + findings[0]["title"].get<std::string>());
  EXPECT_GE(browser().evaluate(count_of("#findings .marked")), 1);
  EXPECT_EQ(browser().evaluate(count_of("#source .row")), profile.kernels[0].lines.size());
  EXPECT_THAT(browser().evaluate("document.querySelector('#counters').textContent"),
              HasSubstr("dram_read_bytes"));
  EXPECT_EQ(browser().evaluate(count_of("#kernels .bar")),
            again["diagnosis"]["kernels"][0]["roofs"].size());
}

TEST_F(Pages, PagesOfEveryKindOfBottleneckAreSound) {
  for (const char* const name :
       {"narrow_loads/axpy_f16/w2", "launch_bound/recurrence_f32/launches256",
        "bank_conflicts/transpose_f32/pad0", "uncoalesced_access/copy_f32/stride1",
        "hmma_where_hgmma/square_f16/mma_128x128",
        "hmma_where_hgmma/linear_i8/wgmma_128x256_stripes"}) {
    SCOPED_TRACE(name);
    write(work() / "profile.json", to_json(captured_profile(name)).dump());
    expect_exit(kernelpro({"diagnose", "--profile", "profile.json", "--html", "page.html"}), 0);
    expect_sound();
  }
}

TEST_F(Pages, HostileTextDoesNothingInABrowser) {
  const std::string hostile =
      "\"'></title></style><script>console.log(1);alert(2)</script><img src=http://127.0.0.1:9/x>";
  Profile profile = sample_profile();
  profile.program = profile.device = hostile;
  profile.kernels[0].name = hostile;
  profile.kernels[0].lines[0].text = hostile;
  write(work() / "profile.json", to_json(profile).dump());
  expect_exit(kernelpro({"diagnose", "--profile", "profile.json", "--html", "page.html"}), 0);
  expect_sound();
  EXPECT_EQ(browser().evaluate("document.querySelector('h1').textContent"),
            "Diagnosis of " + hostile);
}

TEST_F(Pages, TheBrowserTellsOfAPageThatIsNotSound) {
  write(page(), R"html(<!DOCTYPE html><title>bad</title><p style="color: #aaa">pale</p>
<div class="picture"><svg width="100" height="50"><text x="10" y="20">here</text>
<text x="12" y="22">there</text><text x="90" y="45">far out</text></svg></div>
<script>console.log('said'); missing();</script><img src="other.png">)html");
  browser().open(page());
  EXPECT_EQ(browser().evaluate(bad_texts), (Json{"here lies on there", "cut off: far out"}));
  EXPECT_LT(browser().evaluate(least_contrast), 3);
  EXPECT_EQ(browser().happened("Network.requestWillBeSent").size(), 2U);
  EXPECT_EQ(browser().happened("Runtime.consoleAPICalled").size(), 1U);
  EXPECT_EQ(browser().happened("Runtime.exceptionThrown").size(), 1U);
  EXPECT_EQ(browser().happened("Log.entryAdded").size(), 1U) << "the picture is not there";
}

TEST_F(Pages, AFileThatCannotBeWrittenIsNamed) {
  write(work() / "profile.json", to_json(sample_profile()).dump());
  const Finished refused =
      kernelpro({"diagnose", "--profile", "profile.json", "--html", "no_such_folder/page.html"});
  expect_exit(refused, 5);
  EXPECT_THAT(refused.errors, HasSubstr("no_such_folder/"));
  const Finished both = kernelpro({"report", "a-1", "a-2", "--html", "page.html"});
  expect_exit(both, 1);
  EXPECT_THAT(both.errors, HasSubstr("more excludes --html"));
}

}  // namespace
}  // namespace kernelpro
