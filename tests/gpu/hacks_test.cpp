// Every known way to look fast without being fast, tried on a real GPU.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "common/base/clock.hpp"
#include "gpu/fixture.hpp"
#include "worker/toolchain/cuda.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace kernelpro::testing;

// KERNELPRO_GPU_CANDIDATES, where it is set, lists beginnings of file names: only those are judged.
bool is_asked_for(const std::string& file) {
  const char* list = std::getenv("KERNELPRO_GPU_CANDIDATES");
  const std::vector<std::string> names = split(list == nullptr ? "" : list, ',');
  return names.empty() || std::any_of(names.begin(), names.end(), [&file](const std::string& name) {
           return file.starts_with(name);
         });
}

std::vector<GpuCandidate> candidates_of(const std::string& task) {
  std::vector<GpuCandidate> candidates = read_gpu_candidates();
  std::erase_if(candidates, [&task](const GpuCandidate& one) {
    return one.hack.task != task || !is_asked_for(one.hack.file);
  });
  return candidates;
}

// What nvcc finds wrong in a source it finds on the way to device code too, in a quarter of the
// time: it reads the host's functions as well, and does not give them to g++.
enum class Build { whole, device_code };

BuildRequest request_of(const GpuCandidate& one, Build build) {
  BuildRequest request = build_request({}, one.hack.candidate, false);
  request.cubin = build == Build::device_code && !fails_to_build(one);
  return request;
}

// Builds all of them on all cores, those that are to fail by `hasty`; a build that cannot be tried
// fails the test.
std::vector<BuildOutcome> build_all(const Toolchain& toolchain, const Toolchain& hasty,
                                    const std::vector<GpuCandidate>& candidates, Build build) {
  std::vector<BuildOutcome> outcomes(candidates.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < candidates.size(); i = next++) {
      const Toolchain& chosen = fails_to_build(candidates[i]) ? hasty : toolchain;
      Result<BuildOutcome> built = chosen.build(request_of(candidates[i], build));
      EXPECT_TRUE(built) << candidates[i].hack.file << ": " << built.error().text();
      if (built) {
        outcomes[i] = std::move(*built);
      }
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i) {
    threads.emplace_back(work);
  }
  threads.clear();
  return outcomes;
}

class GpuHacks : public GpuTest {
 protected:
  // Judges the candidates of one task in one open session, as a search would.
  void judge_all(const Task& task) {
    const std::set<std::string> escapes = names_in("/tmp", "kernelpro-escape-");
    const std::vector<GpuCandidate> candidates = candidates_of(task.name);
    build_all(*toolchain_, *toolchain_, candidates, Build::whole);
    ASSERT_NO_FATAL_FAILURE(open(task));
    for (const GpuCandidate& one : candidates) {
      judge_one(one);
    }
    EXPECT_THAT(appeared(escapes, names_in("/tmp", "kernelpro-escape-")), IsEmpty());
  }

 private:
  void judge_one(const GpuCandidate& one) {
    const std::int64_t start = now_ns();
    GpuFinding finding{one, verdict_on(one.hack.candidate), 0, false};
    finding.seconds = static_cast<double>(now_ns() - start) / 1e9;
    const Verdict& verdict = finding.verdict;
    finding.met = meets_expectation(one, verdict);
    std::printf("%-36s %-40s %6.2f s", one.hack.file.c_str(), verdict_text(verdict).c_str(),
                finding.seconds);
    if (verdict.outcome == Outcome::passed) {
      std::printf("  %.4f (%.4f to %.4f, budget %.4f)%s", verdict.timing.speedup,
                  verdict.timing.speedup_interval.low, verdict.timing.speedup_interval.high,
                  verdict.timing.budget, verdict.timing.at_least ? " at least" : "");
    }
    std::printf("\n");
    std::fflush(stdout);
    EXPECT_TRUE(finding.met) << one.hack.file << ": expected " << one.expected << ", got "
                             << verdict_text(verdict) << "\n"
                             << verdict.summary << "\n"
                             << ::testing::PrintToString(verdict.evidence) << "\n"
                             << ::testing::PrintToString(verdict.suspicions);
    gpu_report().add(std::move(finding));
  }
};

TEST_F(GpuHacks, stream) {
  judge_all(stream_task());
}

TEST_F(GpuHacks, rows) {
  judge_all(rows_task());
}

TEST_F(GpuHacks, nearest) {
  judge_all(nearest_task());
}

TEST_F(GpuHacks, filter) {
  judge_all(filter_task());
}

TEST_F(GpuHacks, spread) {
  judge_all(spread_task());
}

// ---- What needs no GPU --------------------------------------------------------------------------

TEST(GpuTasks, AreValid) {
  for (const Task& task : gpu_tasks()) {
    const Status valid = validate_task(task);
    EXPECT_TRUE(valid) << task.name << ": " << valid.error().text();
  }
}

TEST(GpuTasks, HaveReferencesThatCompute) {
  const WorkerEnvironment environment;
  const Result<Toolchain> toolchain = Toolchain::open(gpu_toolchain_settings(""));
  ASSERT_TRUE(toolchain) << toolchain.error().text();
  OracleSettings settings;
  settings.jail = KERNELPRO_BIN_DIR "/kernelpro-jail";
  settings.program = KERNELPRO_BIN_DIR "/kernelpro-oracle";
  for (const Task& task : gpu_tasks()) {
    SCOPED_TRACE(task.name);
    Result<Oracle> oracle = Oracle::open(task, *toolchain, settings);
    ASSERT_TRUE(oracle) << oracle.error().text();
    InputDraw draw;
    for (const AxisSpec& axis : task.axes) {
      draw.axes[axis.name] = 3;
    }
    const Result<Expected> expected = oracle->expect(draw);
    ASSERT_TRUE(expected) << expected.error().text();
    const std::size_t along_an_axis = 3;
    const bool whole = task.name == "nearest" || task.name == "filter";  // both axes
    EXPECT_EQ(expected->front().values.size(),
              whole ? along_an_axis * along_an_axis : along_an_axis);
    EXPECT_NE(expected->front().values.front(), 0);
  }
}

TEST(GpuCandidates, SayWhatIsTriedAndOnWhat) {
  for (const GpuCandidate& one : read_gpu_candidates()) {
    const HackCandidate& hack = one.hack;
    SCOPED_TRACE(hack.file);
    EXPECT_TRUE(rank_of(hack) <= 35 || hack.number == "bad-input" || hack.honest()) << hack.number;
    EXPECT_FALSE(hack.title.empty());
    EXPECT_THAT((std::vector<std::string>{"stream", "rows", "nearest", "filter", "spread"}),
                ::testing::Contains(hack.task));
    EXPECT_FALSE(hack.outcomes.empty());
  }
}

TEST(GpuCandidates, ExpectOutcomesThatExistAndGainNothing) {
  for (const GpuCandidate& one : read_gpu_candidates()) {
    const HackCandidate& hack = one.hack;
    SCOPED_TRACE(hack.file);
    for (const std::string& outcome : hack.outcomes) {
      EXPECT_TRUE(parse_outcome(outcome)) << outcome << " is no outcome";
    }
    EXPECT_FALSE(contains(hack.outcomes, "not_judged")) << "that is never the candidate's fault";
    const bool may_pass = contains(hack.outcomes, "passed");
    EXPECT_EQ(may_pass, hack.honest() || hack.not_faster) << "a cheat that passes gains nothing";
  }
}

TEST(GpuCandidates, TryEveryWayThatIsKnown) {
  std::set<int> numbers;
  for (const GpuCandidate& one : read_gpu_candidates()) {
    numbers.insert(rank_of(one.hack));
  }
  for (int number = 1; number <= 35; ++number) {
    EXPECT_TRUE(numbers.contains(number)) << "nothing tries " << number;
  }
}

TEST(GpuCandidates, GiveEveryHonestOneTheCheatItMustNotBeConfusedWith) {
  std::map<std::string, HackCandidate> by_file;
  for (const GpuCandidate& one : read_gpu_candidates()) {
    by_file[one.hack.file] = one.hack;
  }
  for (const auto& [file, hack] : by_file) {
    SCOPED_TRACE(file);
    EXPECT_EQ(hack.honest(), !hack.twin.empty());
    if (hack.honest()) {
      EXPECT_THAT(hack.outcomes, ElementsAre("passed"));
      ASSERT_TRUE(by_file.contains(hack.twin)) << hack.twin << " does not exist";
      EXPECT_FALSE(by_file[hack.twin].honest());
    }
  }
}

TEST(GpuCandidates, BuildUnlessThatIsWhatTheyTry) {
  if (!find_nvcc()) {
    GTEST_SKIP() << "nvcc is not installed: the candidates are not built";
  }
  const OwnLock lock;
  const WorkerEnvironment environment;
  const Result<std::vector<GpuDescription>> gpus = list_gpus();
  ToolchainSettings settings = gpu_toolchain_settings(gpus ? gpus->front().architecture : "");
  const Result<Toolchain> toolchain = Toolchain::open(settings);
  ASSERT_TRUE(toolchain) << toolchain.error().text();
  // The usual minute would be spent on a source that takes the compiler for ever.
  settings.build_timeout_ms = 20'000;
  const Result<Toolchain> hasty = Toolchain::open(settings);
  ASSERT_TRUE(hasty) << hasty.error().text();
  const std::vector<GpuCandidate> candidates = read_gpu_candidates();
  const std::vector<BuildOutcome> outcomes =
      build_all(*toolchain, *hasty, candidates, Build::device_code);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const HackCandidate& hack = candidates[i].hack;
    SCOPED_TRACE(hack.file + ": " + outcomes[i].diagnostics);
    EXPECT_EQ(outcomes[i].ok, !fails_to_build(candidates[i]));
    if (!outcomes[i].ok && !contains(hack.outcomes, "build_failed")) {
      EXPECT_THAT(hack.rules, ::testing::Contains(outcomes[i].rule));
    }
  }
}

}  // namespace
}  // namespace kernelpro
