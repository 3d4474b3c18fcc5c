#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "gpu/gpu_report.hpp"

namespace kernelpro {

namespace {

const char* answer_of(const GpuFinding& finding) {
  if (!finding.met) {
    return "NO";
  }
  return finding.candidate.hack.honest() ? "honest" : "yes";
}

nlohmann::json json_of(const GpuFinding& finding) {
  const HackCandidate& hack = finding.candidate.hack;
  return {{"number", hack.number},
          {"title", hack.title},
          {"file", hack.file},
          {"task", hack.task},
          {"expected", finding.candidate.expected},
          {"outcome", name_of(finding.verdict.outcome)},
          {"rule", finding.verdict.rule},
          {"stage", name_of(finding.verdict.stage)},
          {"summary", finding.verdict.summary},
          {"suspicions", finding.verdict.suspicions},
          {"speedup", finding.verdict.timing.speedup},
          {"seconds", finding.seconds},
          {"caught", answer_of(finding)}};
}

// Prints and writes when all tests have run.
class ReportAtTheEnd : public ::testing::Environment {
 public:
  void TearDown() override {
    gpu_report().print();
    const char* file = std::getenv("KERNELPRO_GPU_REPORT");
    if (file == nullptr || *file == '\0') {
      return;
    }
    const Status written = gpu_report().write(file);
    EXPECT_TRUE(written) << written.error().text();
  }
};

const ::testing::Environment* const report_at_the_end =
    ::testing::AddGlobalTestEnvironment(new ReportAtTheEnd);

}  // namespace

GpuReport& gpu_report() {
  static GpuReport report;
  return report;
}

void GpuReport::set_gpu(const std::string& name, int driver_version) {
  gpu_ = name;
  driver_version_ = driver_version;
}

void GpuReport::add(GpuFinding finding) {
  const HackCandidate& hack = finding.candidate.hack;
  findings_.insert_or_assign({rank_of(hack), hack.file}, std::move(finding));
}

void GpuReport::add_figure(const std::string& name, double seconds) {
  figures_[name] = seconds;
}

void GpuReport::print() const {
  if (findings_.empty() && figures_.empty()) {
    return;
  }
  std::printf("%s, driver %d\n", gpu_.c_str(), driver_version_);
  std::printf("%-9s | %-60s | %-36s | %-32s | %7s | caught\n", "hack", "what is tried", "file",
              "got", "seconds");
  std::map<std::string, int> rules;
  for (const auto& [key, finding] : findings_) {
    const HackCandidate& hack = finding.candidate.hack;
    const std::string verdict = verdict_text(finding.verdict);
    std::printf("%-9s | %-60s | %-36s | %-32s | %7.2f | %s\n", hack.number.c_str(),
                hack.title.c_str(), hack.file.c_str(), verdict.c_str(), finding.seconds,
                answer_of(finding));
    ++rules[verdict];
  }
  for (const auto& [rule, count] : rules) {
    std::printf("%4d  %s\n", count, rule.c_str());
  }
  for (const auto& [name, seconds] : figures_) {
    std::printf("%s: %.2f s\n", name.c_str(), seconds);
  }
}

Status GpuReport::write(const std::string& file) const {
  nlohmann::json report = {{"candidates", nlohmann::json::array()},
                           {"figures", nlohmann::json::object()}};
  if (const Result<std::string> text = read_file(file)) {
    report = nlohmann::json::parse(*text, nullptr, false);
    if (!report.is_object() || !report["candidates"].is_array() || !report["figures"].is_object()) {
      return make_error(ErrorKind::bad_input,
                        "this is no report of these tests; name another file in "
                        "KERNELPRO_GPU_REPORT",
                        file);
    }
  }
  if (!gpu_.empty()) {
    report["gpu"] = gpu_;
    report["driver"] = driver_version_;
  }
  nlohmann::json candidates = nlohmann::json::array();
  for (nlohmann::json& old : report["candidates"]) {
    const bool judged_again =
        std::any_of(findings_.begin(), findings_.end(),
                    [&old](const auto& entry) { return old["file"] == entry.first.second; });
    if (!judged_again) {
      candidates.push_back(std::move(old));
    }
  }
  for (const auto& [key, finding] : findings_) {
    candidates.push_back(json_of(finding));
  }
  report["candidates"] = std::move(candidates);
  for (const auto& [name, seconds] : figures_) {
    report["figures"][name] = seconds;
  }
  return write_file_unsynced(file, report.dump(2) + "\n");
}

namespace {

class GpuReportFile : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> scratch = ScratchDir::create("gpu-report-test");
    ASSERT_TRUE(scratch) << scratch.error().text();
    scratch_ = std::make_unique<ScratchDir>(std::move(*scratch));
  }

  [[nodiscard]] std::string file() const { return (scratch_->path() / "report.json").string(); }

  void write(const GpuReport& report) const {
    const Status written = report.write(file());
    ASSERT_TRUE(written) << written.error().text();
  }

  [[nodiscard]] nlohmann::json read() const { return nlohmann::json::parse(*read_file(file())); }

  static GpuFinding finding(const std::string& name, Outcome outcome) {
    GpuFinding one;
    one.candidate.hack.file = name;
    one.candidate.hack.number = "1";
    one.verdict.outcome = outcome;
    one.met = outcome == Outcome::cheated;
    return one;
  }

  std::unique_ptr<ScratchDir> scratch_;
};

TEST_F(GpuReportFile, KeepsWhatWasFoundBeforeOnOtherCandidates) {
  GpuReport first;
  first.add(finding("a.cu", Outcome::cheated));
  first.add(finding("b.cu", Outcome::passed));
  write(first);
  GpuReport second;
  second.add(finding("b.cu", Outcome::cheated));
  second.add_figure("after an endless kernel", 1.5);
  write(second);
  const nlohmann::json report = read();
  ASSERT_EQ(report["candidates"].size(), 2U);
  EXPECT_EQ(report["candidates"][0]["file"], "a.cu");
  EXPECT_EQ(report["candidates"][1]["outcome"], "cheated");
  EXPECT_EQ(report["candidates"][1]["caught"], "yes");
  EXPECT_EQ(report["figures"]["after an endless kernel"], 1.5);
}

TEST_F(GpuReportFile, IsNotWrittenOverSomethingElse) {
  ASSERT_TRUE(write_file_unsynced(file(), "[1, 2]"));
  const Status written = GpuReport().write(file());
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().text(), ::testing::HasSubstr("this is no report of these tests"));
  EXPECT_EQ(*read_file(file()), "[1, 2]");
}

}  // namespace
}  // namespace kernelpro
