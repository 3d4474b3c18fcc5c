// Every known way to look fast without being fast, tried on the real worker.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "common/base/file.hpp"
#include "common/base/set_variable.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/task/load.hpp"
#include "hacks/hack_candidate.hpp"
#include "support/leftovers.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace kernelpro::testing;

constexpr std::array tasks = {
    "axpy",      "gemm",       "softmax",          "jacobi2d",     "spmv", "kmeans_assign",
    "layernorm", "cg_step",    "attention",        "conv2d",       "gemv", "maxsim",
    "transpose", "w4a16_gemm", "moe_grouped_gemm", "sparse_scores"};

// Whether the right verdict needs times that nothing disturbs. The others are caught before, or by
// what they computed or did.
bool needs_the_clock(const HackCandidate& hack) {
  return hack.rounds_above > 0 || contains(hack.outcomes, "passed") ||
         contains(hack.rules, "clock") || contains(hack.rules, "bound");
}

// Not one that waits for longer rounds than any shape had.
bool could_cheat(const HackCandidate& hack, const Verdict& verdict) {
  return hack.rounds_above == 0 || verdict.outcome != Outcome::passed ||
         std::ranges::any_of(verdict.timing.shapes, [&hack](const ShapeTiming& shape) {
           const auto size = shape.shape.find(hack.rounds_axis);
           const bool meant = hack.rounds_axis.empty() ||
                              (size != shape.shape.end() && size->second >= hack.rounds_size);
           return meant && shape.calls > hack.rounds_above;
         });
}

// Judges candidates of one task in one open session, as a search would. The table of the run shows
// each candidate once: in `Hacks`, which other tests may run beside, or in `HacksByTheClock`.
class Hacks : public ::testing::TestWithParam<const char*> {
 protected:
  explicit Hacks(bool by_the_clock = false)
      : by_the_clock_(by_the_clock),
        own_lock_(by_the_clock ? nullptr : std::make_unique<OwnLock>()) {}

  void judge_all() {
    const std::string task_name = GetParam();
    std::vector<HackCandidate> hacks = read_hacks();
    std::erase_if(hacks, [&](const HackCandidate& hack) {
      return hack.task != task_name || needs_the_clock(hack) != by_the_clock_;
    });
    if (hacks.empty()) {
      return;
    }
    ASSERT_NO_FATAL_FAILURE(open(task_name));
    drop_without_compiler(hacks);
    build_ahead(hacks);
    std::printf("%-9s | %-50s | %-36s | %-42s | %-32s | caught\n", "hack", "what is tried", "file",
                "expected", "got");
    for (const HackCandidate& hack : hacks) {
      judge(hack);
    }
    expect_honest_still_passes(task_name);
    worker_.reset();
    expect_nothing_left();
  }

 private:
  void open(const std::string& task_name) {
    Result<WorkerClient> worker = WorkerClient::start(KERNELPRO_BIN_DIR "/kernelpro-worker");
    ASSERT_TRUE(worker) << worker.error().text();
    worker_.emplace(std::move(*worker));
    Result<Task> task =
        load_task(std::filesystem::path(KERNELPRO_SOURCE_DIR) / "tasks" / task_name);
    ASSERT_TRUE(task) << task.error().text();
    OpenOrder order;
    order.task = std::move(*task);
    order.judging.call_timeout_seconds = 2;
    order.judging.timing_seconds = 0.3;
    const Result<Opened> opened = worker_->open(order);
    ASSERT_TRUE(opened) << opened.error().text();
  }

  // Candidates for a compiler that is not installed cannot be judged here; one that nobody knows is
  // part of the try.
  void drop_without_compiler(std::vector<HackCandidate>& hacks) {
    const Result<WorkerDescription> description = worker_->describe();
    ASSERT_TRUE(description) << description.error().text();
    std::set<std::string> known = {""};
    for (const CompilerDescription& compiler : description->compilers) {
      known.insert(compiler.name);
    }
    std::erase_if(hacks, [&known](const HackCandidate& hack) {
      const bool missing =
          hack.candidate.compiler == "clang++-19" && !known.contains(hack.candidate.compiler);
      if (missing) {
        std::printf("%s is left out: %s is not installed\n", hack.file.c_str(),
                    hack.candidate.compiler.c_str());
      }
      return missing;
    });
  }

  void build_ahead(const std::vector<HackCandidate>& hacks) {
    std::vector<Candidate> candidates;
    for (const HackCandidate& hack : hacks) {
      // No failure is kept: one that takes all the time there is would take it twice.
      if (!contains(hack.outcomes, "build_failed")) {
        candidates.push_back(hack.candidate);
      }
    }
    const auto built = worker_->build(candidates);
    EXPECT_TRUE(built) << built.error().text();
  }

  // What is not judged is our fault and tried once more, as every caller does.
  std::optional<Verdict> verdict_on(const HackCandidate& hack) {
    EvaluateOrder order;
    order.candidate = hack.candidate;
    order.allow_precision = hack.allow_precision;
    if (!hack.against.empty()) {
      order.incumbent = candidate_in(hack.against);
    }
    for (const bool last : {false, true}) {
      Result<Evaluated> evaluated = worker_->evaluate(order);
      if (!evaluated) {
        ADD_FAILURE() << hack.file << ": " << evaluated.error().text();
        return std::nullopt;
      }
      Verdict& verdict = evaluated->certificate.verdict;
      if (verdict.outcome != Outcome::not_judged || last) {
        return std::move(verdict);
      }
    }
    return std::nullopt;
  }

  static Candidate candidate_in(const std::string& file) {
    const std::vector<HackCandidate> hacks = read_hacks();
    const auto found = std::find_if(hacks.begin(), hacks.end(),
                                    [&](const HackCandidate& hack) { return hack.file == file; });
    EXPECT_NE(found, hacks.end()) << file << " does not exist";
    return found == hacks.end() ? Candidate() : found->candidate;
  }

  // Who passes and should not has one try. Any other verdict than the expected one may be due to
  // the machine, which has run out of something: it is tried once more, and the table says so.
  std::optional<Verdict> expected_verdict_on(const HackCandidate& hack) {
    std::optional<Verdict> first = verdict_on(hack);
    if (!first || meets_expectation(hack, *first) ||
        (first->outcome == Outcome::passed && !hack.honest())) {
      return first;
    }
    std::printf("%s: %s, tried once more: %s\n", hack.file.c_str(), verdict_text(*first).c_str(),
                first->summary.c_str());
    return verdict_on(hack);
  }

  void judge(const HackCandidate& hack) {
    const std::optional<Verdict> verdict = expected_verdict_on(hack);
    if (!verdict) {
      return;
    }
    const bool met = meets_expectation(hack, *verdict);
    EXPECT_EQ(verdict->summary.find('\n'), std::string::npos) << hack.file << " writes lines";
    const bool tried = met || could_cheat(hack, *verdict);
    const char* missed = tried ? "NO" : "not tried: short rounds";
    const char* caught = hack.honest() ? "honest" : "yes";
    std::printf("%-9s | %-50s | %-36s | %-42s | %-32s | %s\n", hack.number.c_str(),
                hack.title.c_str(), hack.file.c_str(), expected_text(hack).c_str(),
                verdict_text(*verdict).c_str(), met ? caught : missed);
    EXPECT_TRUE(met || !tried) << hack.file << ": expected " << expected_text(hack) << ", got "
                               << verdict_text(*verdict) << "\n"
                               << verdict->summary << "\n"
                               << ::testing::PrintToString(verdict->evidence);
  }

  void expect_honest_still_passes(const std::string& task_name) {
    const std::vector<HackCandidate> hacks = read_hacks();
    const auto honest = std::find_if(hacks.begin(), hacks.end(), [&](const HackCandidate& hack) {
      return hack.honest() && hack.task == task_name;
    });
    ASSERT_NE(honest, hacks.end()) << "the task has no honest candidate to end with";
    const std::optional<Verdict> verdict = verdict_on(*honest);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->outcome, Outcome::passed) << honest->file << ": " << verdict->summary;
  }

  void expect_nothing_left() {
    EXPECT_THAT(own_processes(), IsEmpty());
    EXPECT_THAT(appeared(escapes_, names_in("/tmp", "kernelpro-escape-")), IsEmpty());
    EXPECT_THAT(appeared(shared_memory_, shared_memory()), IsEmpty());
    EXPECT_THAT(names_in(environment_.scratch()), IsEmpty()) << "scratch folders are left";
  }

  std::set<std::string> escapes_ = names_in("/tmp", "kernelpro-escape-");
  // All but what OpenMP programs beside us have registered there: ours have ended by then.
  static std::set<std::string> shared_memory() {
    std::set<std::string> names = names_in("/dev/shm");
    std::erase_if(names, [](const std::string& name) {
      static const std::string registered = "__KMP_REGISTERED_LIB_";
      return name.starts_with(registered) &&
             std::filesystem::exists(
                 "/proc/" + name.substr(registered.size(),
                                        name.find('_', registered.size()) - registered.size()));
    });
    return names;
  }

  std::set<std::string> shared_memory_ = shared_memory();
  const bool by_the_clock_;
  const std::unique_ptr<OwnLock> own_lock_;
  WorkerEnvironment environment_;
  // The usual minute would be spent on each source that takes the compiler for ever.
  SetVariable build_timeout_{"KERNELPRO_BUILD_TIMEOUT_MS", "15000"};
  std::optional<WorkerClient> worker_;
};

class HacksByTheClock : public Hacks {
 protected:
  HacksByTheClock() : Hacks(true) {}
};

std::string task_of(const ::testing::TestParamInfo<const char*>& info) {
  return info.param;
}

TEST_P(Hacks, AreCaught) {
  judge_all();
}

TEST_P(HacksByTheClock, GainNothingAndHonestOnesPass) {
  judge_all();
}

INSTANTIATE_TEST_SUITE_P(Tasks, Hacks, ::testing::ValuesIn(tasks), task_of);
INSTANTIATE_TEST_SUITE_P(Tasks, HacksByTheClock, ::testing::ValuesIn(tasks), task_of);

TEST(HackHeaders, SayWhatIsTriedAndWhatIsExpected) {
  for (const HackCandidate& hack : read_hacks()) {
    SCOPED_TRACE(hack.file);
    EXPECT_GE(rank_of(hack), 1);
    EXPECT_TRUE(rank_of(hack) <= 35 || hack.number == "bad-input" || hack.honest()) << hack.number;
    EXPECT_FALSE(hack.title.empty());
    EXPECT_THAT(tasks, ::testing::Contains(hack.task));
    EXPECT_FALSE(hack.outcomes.empty());
    for (const std::string& outcome : hack.outcomes) {
      EXPECT_TRUE(parse_outcome(outcome)) << outcome << " is no outcome";
    }
    EXPECT_FALSE(contains(hack.outcomes, "not_judged")) << "that is never the candidate's fault";
  }
}

TEST(HackHeaders, GiveEveryHonestCandidateTheCheatItMustNotBeConfusedWith) {
  std::map<std::string, HackCandidate> by_file;
  for (const HackCandidate& hack : read_hacks()) {
    by_file[hack.file] = hack;
  }
  for (const auto& [file, hack] : by_file) {
    SCOPED_TRACE(file);
    EXPECT_EQ(hack.honest(), !hack.twin.empty());
    EXPECT_TRUE(hack.against.empty() || by_file[hack.against].honest());
    if (hack.honest()) {
      EXPECT_THAT(hack.outcomes, ElementsAre("passed"));
      ASSERT_TRUE(by_file.contains(hack.twin)) << hack.twin << " does not exist";
      EXPECT_FALSE(by_file[hack.twin].honest());
    }
  }
  for (const char* name : {"honest_openmp_pool.cpp", "honest_atomic_sums.cpp",
                           "honest_plan_by_shape.cpp", "honest_fast_math.cpp"}) {
    EXPECT_TRUE(by_file.contains(name)) << name;
  }
}

// README.md has a row `| NUMBER | what is tried | rule | candidates | twins |` for each way.
struct ListedWay {
  bool needs_gpu = false;
  std::set<std::string> candidates;
  std::set<std::string> twins;
};

std::set<std::string> quoted_files(const std::string& cell) {
  std::set<std::string> files;
  const std::vector<std::string> parts = split("." + cell, '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) {
    files.insert(parts[i] + ".cpp");
  }
  return files;
}

std::map<std::string, ListedWay> read_list() {
  std::map<std::string, ListedWay> list;
  const Result<std::string> text = read_file(hacks_folder() / "README.md");
  EXPECT_TRUE(text) << text.error().text();
  for (const std::string& line : split(text ? *text : "", '\n')) {
    const std::vector<std::string> cells = split(line, '|');
    if (!line.starts_with("| ") || cells.size() != 5) {
      continue;
    }
    const std::string number = split(cells[0], ' ').at(0);
    ListedWay& way = list[number];
    way.needs_gpu = cells[3].find("needs a GPU") != std::string::npos;
    way.candidates = quoted_files(cells[3]);
    way.twins = quoted_files(cells[4]);
  }
  list.erase("number");
  return list;
}

TEST(HackList, NamesEveryWayAndExactlyItsCandidates) {
  const std::map<std::string, ListedWay> list = read_list();
  std::map<std::string, ListedWay> expected;
  std::map<std::string, std::string> numbers;
  for (const HackCandidate& hack : read_hacks()) {
    numbers[hack.file] = hack.number;
    if (!hack.honest()) {
      expected[hack.number].candidates.insert(hack.file);
    }
  }
  for (const HackCandidate& hack : read_hacks()) {
    if (hack.honest()) {
      expected[numbers[hack.twin]].twins.insert(hack.file);
    }
  }
  for (const auto& [number, way] : expected) {
    ASSERT_TRUE(list.contains(number)) << number << " is not in README.md";
    EXPECT_EQ(list.at(number).candidates, way.candidates) << "row " << number;
    EXPECT_EQ(list.at(number).twins, way.twins) << "row " << number;
  }
}

TEST(HackList, HasACandidateForEveryWayThatExistsOnACpu) {
  const std::map<std::string, ListedWay> list = read_list();
  for (int number = 1; number <= 35; ++number) {
    const auto way = list.find(std::to_string(number));
    ASSERT_NE(way, list.end()) << number << " is not in README.md";
    EXPECT_NE(way->second.needs_gpu, !way->second.candidates.empty())
        << number << " must either have a candidate or need a GPU";
  }
}

}  // namespace
}  // namespace kernelpro
