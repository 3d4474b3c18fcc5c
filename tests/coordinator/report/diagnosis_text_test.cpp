#include "coordinator/report/diagnosis_text.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "coordinator/report/diagnosis_md.hpp"
#include "coordinator/report/diagnosis_parts.hpp"
#include "coordinator/report/table.hpp"
#include "support/profiles.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_diagnosed;

constexpr const char* as_text = R"(./scale --size 4096
  counters not read: the driver denies them (ERR_NVGPUCTRPERM)
  device   Some GPU (sm_90)
  timeline 2 ms traced, GPU busy 62 %, 2 launches, 1 copy of 4.1 kB, 1 synchronization of 1 ms; the
           trace is not complete: 12 records were dropped
  class    dram: its main kernel is held up by memory

scale(float*): 75 % of the kernels' time
  launches 2 launches of 500 µs, grid 1024×2×3, block 256×4×2
  class    dram, confidence 90 %: memory is used to 92 % and nothing else to more than 20 %
  roofs    ██████████████████··  92 %  dram         3.9 of 4.2 TB/s
           ████················  18 %  issue        18 % of the slots
  lacking  tensor_cores: no tensor_use (ncu does not know it on sm_90)
  skipped  bank_conflicts, barriers (not for dram)
  ncu's own rules say
           SOLBottleneck (12.5 % faster): Memory is more heavily utilized than Compute.
@
findings, the largest predicted gain first

1. Threads of a warp read addresses far apart [high, predicted gain 1.85]
   where    scale(float*), by uncoalesced
   seen     32 sectors a request, held against 8: 4-byte values side by side need 4
   cause    The index is multiplied by 32, so that each thread reads a sector of its own.
   do       Let neighboring threads read neighboring elements.
   or       Stage the tile through shared memory.
   gain     7/8 of the sectors are not needed: 1 / (1 - 0.75 * 0.875 * 0.7)
   source   scale.cu:12 (620 samples, 78 %)
              y[i] = a * x[i * 32];

it took ncu 1.90 s, trace 0.40 s
)";

constexpr const char* raw_part = R"(    figure     value  origin
    ----------------------------
    dram_use    0.92  counter
    occupancy    0.5  arithmetic
    registers     40  trace
    stall            samples  share
    -------------------------------
    long_scoreboard      640   80 %
    wait                 160   20 %
    missing  tensor_use: ncu does not know it on sm_90
)";

// `text` with `part` in place of its "@".
std::string with_part(std::string text, const std::string& part) {
  return text.replace(text.find('@'), 1, part);
}

std::string without(std::string text, const std::string& part) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.erase(at, part.size());
}

TEST(DiagnosisText, SaysWhatHoldsTheKernelsUpAndWhatToDo) {
  EXPECT_EQ(diagnosis_text(sample_diagnosed(), false), with_part(as_text, ""));
}

TEST(DiagnosisText, RawShowsFiguresWithOriginAndWhatIsMissing) {
  EXPECT_EQ(diagnosis_text(sample_diagnosed(), true), with_part(as_text, raw_part));
}

TEST(DiagnosisText, WhatIsNotThereIsNotShown) {
  Diagnosed diagnosed = sample_diagnosed();
  diagnosed.profile.counters = "";
  diagnosed.profile.trace.reset();
  diagnosed.report.kernels[0].not_available.clear();
  diagnosed.report.kernels[0].skipped.clear();
  diagnosed.profile.kernels[0].rules.clear();
  diagnosed.profile.kernels[0].lines.clear();
  diagnosed.seconds.clear();
  const std::string text = diagnosis_text(diagnosed, false);
  for (const char* absent :
       {"counters", "timeline", "lacking", "skipped", "ncu's own", "samples", "it took"}) {
    EXPECT_THAT(text, Not(HasSubstr(absent)));
  }
  EXPECT_THAT(text, HasSubstr("source   scale.cu:12\n"));
  const std::string markdown = diagnosis_markdown(diagnosed, false);
  for (const char* absent : {"counters", "timeline", "lacking", "skipped", "ncu's own", "took"}) {
    EXPECT_THAT(markdown, Not(HasSubstr(absent)));
  }
}

TEST(DiagnosisText, NoFindingsIsSaid) {
  Diagnosed diagnosed = sample_diagnosed();
  diagnosed.report.findings.clear();
  EXPECT_THAT(diagnosis_text(diagnosed, false),
              HasSubstr("no findings: none of the tools that ran saw its defect"));
  EXPECT_THAT(diagnosis_markdown(diagnosed, false),
              HasSubstr("None of the tools that ran saw its defect."));
}

TEST(DiagnosisText, AnEmptyDiagnosisIsStillReadable) {
  const std::string text = diagnosis_text(Diagnosed{}, true);
  EXPECT_THAT(text, AllOf(HasSubstr("device   not known"), HasSubstr("class    unknown\n")));
  EXPECT_THAT(diagnosis_markdown(Diagnosed{}, true), HasSubstr("**unknown**"));
}

// Text, names and numbers as bad as a program or a user's tool can make them.
Diagnosed unruly() {
  Diagnosed diagnosed = sample_diagnosed();
  const std::string name = "void cutlass::Kernel<(anonymous namespace)::Enum)1, float>(\x1b[2J" +
                           std::string(3000, 'x') + ")";
  diagnosed.profile.program = "./app\x1b]0;title\x07";
  diagnosed.profile.kernels[0].name = name;
  diagnosed.profile.kernels[0].lines[0].text =
      "a\tb\x1b[31m | `c` <d>\xc2\x9b" + std::string(500, 'y');
  diagnosed.report.kernels[0].kernel = name;
  diagnosed.report.kernels[0].share = std::numeric_limits<double>::quiet_NaN();
  diagnosed.report.kernels[0].roofs[0].share = std::numeric_limits<double>::infinity();
  Finding& finding = diagnosed.report.findings[0];
  finding.kernel = name;
  finding.cause = std::string(400, 'z') + " many words " + std::string(30, 'w');
  finding.title = "a|b <script>\nnext";
  finding.places[0].file = diagnosed.profile.kernels[0].lines[0].place.file =
      "/very/long/" + std::string(200, 'p') + "/scale.cu";
  return diagnosed;
}

TEST(DiagnosisText, UnrulyTextCannotReachTheTerminalOrBreakTheLayout) {
  for (const bool raw : {false, true}) {
    const std::string text = diagnosis_text(unruly(), raw);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\x07'), std::string::npos);
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(diagnosis_markdown(unruly(), raw).find('\x1b'), std::string::npos);
  }
  std::istringstream lines(diagnosis_text(unruly(), false));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("zzzz") == std::string::npos) {
      EXPECT_LE(display_width(line), 100U) << line;
    }
  }
  EXPECT_THAT(diagnosis_text(unruly(), false),
              AllOf(HasSubstr("cutlass::Kernel<…>: – of the kernels' time"),
                    HasSubstr("pppp/scale.cu:12 (620 samples"), HasSubstr("a b?[31m | `c` <d>?y")));
}

TEST(DiagnosisText, OnlyTheFullestRoofsAreShownUnlessRaw) {
  Diagnosed diagnosed = sample_diagnosed();
  diagnosed.report.kernels[0].roofs.clear();
  for (int i = 0; i < 9; ++i) {
    diagnosed.report.kernels[0].roofs.push_back({"roof" + std::to_string(i), 0.9 - 0.1 * i, ""});
  }
  EXPECT_THAT(diagnosis_text(diagnosed, false), AllOf(HasSubstr("roof4"), Not(HasSubstr("roof5"))));
  EXPECT_THAT(diagnosis_text(diagnosed, true), HasSubstr("roof8"));
}

TEST(DiagnosisText, NcuRulesWithoutAnEstimateAreForRawOnly) {
  Diagnosed diagnosed = sample_diagnosed();
  diagnosed.profile.kernels[0].rules.push_back({"Chatter", "INF", "By the way.", std::nullopt});
  diagnosed.profile.kernels[0].rules.push_back({"Better", "OPT", "Do it.", 30});
  const std::string text = diagnosis_text(diagnosed, false);
  EXPECT_THAT(text, Not(HasSubstr("Chatter")));
  EXPECT_LT(text.find("Better (30 % faster)"), text.find("SOLBottleneck"));
  EXPECT_THAT(diagnosis_text(diagnosed, true), HasSubstr("Chatter: By the way."));
}

TEST(DiagnosisMarkdown, OfAProgramOnProcessorsHasFunctionsAndNoLaunches) {
  Diagnosed diagnosed = sample_diagnosed();
  diagnosed.profile.host = HostRun{};
  diagnosed.profile.trace.reset();
  EXPECT_THAT(diagnosis_markdown(diagnosed, false),
              AllOf(HasSubstr("## Functions\n\n| function | share | class |\n|---|---|---|\n"
                              "| `scale(float*)` | 75 % | dram |"),
                    Not(HasSubstr("launches"))));
}

constexpr const char* as_markdown = R"(# Diagnosis of `./scale --size 4096`

> Counters were not read: the driver denies them (ERR_NVGPUCTRPERM)

|  |  |
|---|---|
| device | Some GPU |
| architecture | sm_90 |
| timeline | 2 ms traced, GPU busy 62 %, 2 launches, 1 copy of 4.1 kB, 1 synchronization of 1 ms |
| class | **dram**: its main kernel is held up by memory |
| took | ncu 1.90 s, trace 0.40 s |

## Kernels

| kernel | share | launches | time | grid | block | class |
|---|---|---|---|---|---|---|
| `scale(float*)` | 75 % | 2 | 500 µs | 1024×2×3 | 256×4×2 | dram |

### `scale(float*)`

**dram**, confidence 90 %: memory is used to 92 % and nothing else to more than 20 %

| roof | used | against what was measured here |
|---|---|---|
| dram | 92 % | 3.9 of 4.2 TB/s |
| issue | 18 % | 18 % of the slots |

- lacking: tensor_cores: no tensor_use (ncu does not know it on sm_90)
- skipped: bank_conflicts, barriers (not for dram)

ncu's own rules:

- `SOLBottleneck` (12.5 % faster): Memory is more heavily utilized than Compute.
@
## Findings

### 1. Threads of a warp read addresses far apart

- **predicted gain 1.85** (high): 7/8 of the sectors are not needed: 1 / (1 - 0.75 * 0.875 * 0.7)
- where: `scale(float*)`, by `uncoalesced`
- seen: 32 sectors a request, held against 8: 4-byte values side by side need 4
- cause: The index is multiplied by 32, so that each thread reads a sector of its own.
- source: `scale.cu:12` `y[i] = a * x[i * 32];` (620 samples, 78 %)

What to do:

1. Let neighboring threads read neighboring elements.
2. Stage the tile through shared memory.
)";

constexpr const char* raw_markdown = R"(
| figure | value | origin |
|---|---|---|
| dram_use | 0.92 | counter |
| occupancy | 0.5 | arithmetic |
| registers | 40 | trace |

| stall | samples | share |
|---|---|---|
| long_scoreboard | 640 | 80 % |
| wait | 160 | 20 % |

| missing | why |
|---|---|
| tensor_use | ncu does not know it on sm_90 |
)";

TEST(DiagnosisMarkdown, SaysTheSame) {
  const std::string incomplete = "; the trace is not complete: 12 records were dropped";
  EXPECT_EQ(without(diagnosis_markdown(sample_diagnosed(), false), incomplete),
            with_part(as_markdown, ""));
  EXPECT_EQ(without(diagnosis_markdown(sample_diagnosed(), true), incomplete),
            with_part(as_markdown, raw_markdown));
}

TEST(DiagnosisMarkdown, TextIsNoMarkup) {
  const std::string text = diagnosis_markdown(unruly(), false);
  EXPECT_THAT(text, AllOf(HasSubstr("### 1. a|b &lt;script> next\n"), HasSubstr("`` a b?[31m |"),
                          HasSubstr("| `cutlass::Kernel<…>` | – |")));
}

TEST(DiagnosisParts, NamesLoseTheirMiddleOrTheirArguments) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(shortened("äöüßäöüß", 4), "äö…ß");
  EXPECT_EQ(short_kernel_name("scale(float*)", 20), "scale(float*)");
  EXPECT_EQ(short_kernel_name("void scale<float, 4>(float*, int)", 20), "scale<…>");
  EXPECT_EQ(short_kernel_name("scale(float*, float*, int)", 20), "scale");
  EXPECT_EQ(short_kernel_name("(anonymous namespace)::k", 10), "k");
  EXPECT_EQ(short_kernel_name("a::(anonymous namespace)::k(float*, int)", 20), "a::k");
  EXPECT_EQ(short_kernel_name("", 10), "");
}

TEST(DiagnosisParts, AMoveIsASentenceOrAName) {
  EXPECT_EQ(move_text("registers_64"), "the move registers_64");
  EXPECT_EQ(move_text("unroll the loop"), "unroll the loop");
  EXPECT_EQ(move_text(""), "");
}

TEST(DiagnosisParts, WordsAreWrapped) {
  EXPECT_EQ(wrapped("one two three", 2, 9), "one two\n  three");
  EXPECT_EQ(wrapped("", 2, 9), "");
  EXPECT_EQ(wrapped("averylongword b", 2, 9), "averylongword\n  b");
}

}  // namespace
}  // namespace kernelpro
