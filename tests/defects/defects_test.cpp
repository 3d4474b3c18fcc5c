// The fourteen tools on kernels with known defects, as they were captured on an H200: what
// bench/tool_precision reports, held fast so that no change makes the tools worse unseen.
#include <gmock/gmock.h>
#include <zlib.h>

#include <map>
#include <set>
#include <string>

#include "support/defect_cases.hpp"
#include "worker/diagnose/diagnose.hpp"
#include "worker/diagnose/tools/tool.hpp"

namespace kernelpro {
namespace {

// A little below what was measured over all cases: 0.96 and 0.98.
constexpr double least_precision = 0.94;
constexpr double least_recall = 0.97;

constexpr char captured[] = KERNELPRO_SOURCE_DIR "/bench/results/h200/defects.jsonl.gz";

std::string unpacked(const char* path) {
  gzFile file = gzopen(path, "rb");
  std::string out;
  std::string piece(1 << 16, '\0');
  for (int read = 0; file != nullptr && (read = gzread(file, piece.data(),
                                                       static_cast<unsigned>(piece.size()))) > 0;) {
    out.append(piece, 0, static_cast<std::size_t>(read));
  }
  gzclose(file);
  return out;
}

class Defects : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Result<std::vector<DefectCase>> read = parse_defect_cases(unpacked(captured));
    ASSERT_TRUE(read) << read.error().text();
    cases_ = std::move(*read);
  }

  static std::set<std::string> tools_that_found(const DefectCase& one, bool all_tools) {
    std::set<std::string> out;
    for (const Finding& finding : diagnose(one.profile, {all_tools, {}}).findings) {
      out.insert(finding.tool);
    }
    return out;
  }

  static std::vector<DefectCase> cases_;
};

std::vector<DefectCase> Defects::cases_;

struct Counts {
  int right = 0;
  int wrong = 0;
  int missed = 0;
};

TEST_F(Defects, EveryToolHasCasesWithAndWithoutItsDefect) {
  std::map<std::string, Counts> seen;
  for (const DefectCase& one : cases_) {
    seen[one.tool].right += is_defect(one) ? 1 : 0;
    seen[one.tool].wrong += !is_defect(one) && !is_disputed(one) ? 1 : 0;
  }
  for (const Tool& tool : all_tools()) {
    EXPECT_GE(seen[tool.id].right, 8) << tool.id;
    EXPECT_GE(seen[tool.id].wrong, 8) << tool.id;
  }
}

TEST_F(Defects, MostAreFoundAndLittleElse) {
  Counts all;
  std::set<std::string> launches;
  for (const DefectCase& one : cases_) {
    const std::set<std::string> found = tools_that_found(one, false);
    const std::string launch = profiled_launch(one);
    const bool is_new = launch.empty() || launches.insert(launch).second;
    for (const Tool& tool : all_tools()) {
      const bool own = tool.id == one.tool;
      const bool also = std::find(one.also.begin(), one.also.end(), tool.id) != one.also.end();
      if (own ? is_disputed(one) : (also || (!tool.reads_program() && !is_new))) {
        continue;
      }
      const bool there = own && is_defect(one);
      all.right += there && found.contains(tool.id) ? 1 : 0;
      all.wrong += !there && found.contains(tool.id) ? 1 : 0;
      all.missed += there && !found.contains(tool.id) ? 1 : 0;
    }
  }
  EXPECT_GE(static_cast<double>(all.right) / (all.right + all.wrong), least_precision);
  EXPECT_GE(static_cast<double>(all.right) / (all.right + all.missed), least_recall);
}

// A tool may only lose findings when a figure is taken away: it says what is missing instead.
TEST_F(Defects, WithoutCountersNothingIsFoundThatNeedsThem) {
  for (DefectCase one : cases_) {
    for (KernelProfile& kernel : one.profile.kernels) {
      kernel.figures.clear();
      kernel.stalls.clear();
      kernel.code.reset();
    }
    one.profile.counters = "denied";
    for (const std::string& tool : tools_that_found(one, true)) {
      EXPECT_TRUE(tool == "launch_bound" || tool == "host_waits" || tool == "block_shortage")
          << tool << " on " << one.name;
    }
  }
}

}  // namespace
}  // namespace kernelpro
