// Candidates that the judge passes and callers would regret.
#include "common/base/hash.hpp"
#include "coordinator/app/evaluate.hpp"
#include "coordinator/store/store.hpp"
#include "coordinator/task/adapt.hpp"
#include "coordinator/task/load.hpp"
#include "own/project.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// Each element with its neighbor; right in place too, since neighbors are read before they are
// written.
std::string pairs_with(const std::string& body) {
  return "void pairs(const float* x, float* y, int n) {\n" + body + "}\n";
}

const std::string& original() {
  static const std::string text = pairs_with(
      "  for (int i = 0; i < n - 1; ++i) y[i] = x[i] + 3 * x[i + 1];\n"
      "  if (n > 0) y[n - 1] = x[n - 1];\n");
  return text;
}

// Honest: two at a time, all read before any is written.
const std::string& unrolled() {
  static const std::string text = pairs_with(
      "  int i = 0;\n"
      "  for (; i + 2 < n; i += 2) {\n"
      "    const float a = x[i] + 3 * x[i + 1];\n"
      "    const float b = x[i + 1] + 3 * x[i + 2];\n"
      "    y[i] = a;\n    y[i + 1] = b;\n  }\n"
      "  for (; i + 1 < n; ++i) y[i] = x[i] + 3 * x[i + 1];\n"
      "  if (n > 0) y[n - 1] = x[n - 1];\n");
  return text;
}

// The original but for a line that needs OpenMP; one thread, so that it is right in place too.
const std::string& in_threads() {
  static const std::string text = pairs_with(
      "#pragma omp parallel for num_threads(1)\n"
      "  for (int i = 0; i < n - 1; ++i) y[i] = x[i] + 3 * x[i + 1];\n"
      "  if (n > 0) y[n - 1] = x[n - 1];\n");
  return text;
}

const std::string& backward() {
  static const std::string text = pairs_with(
      "  if (n > 0) y[n - 1] = x[n - 1];\n"
      "  for (int i = n - 2; i >= 0; --i) y[i] = x[i] + 3 * x[i + 1];\n");
  return text;
}

// In place it would read what it has written: nobody can call it so, and any order will do.
const std::string& stencil_forward() {
  static const std::string text = pairs_with(
      "  for (int i = 1; i + 1 < n; ++i) y[i] = x[i - 1] + 3 * x[i + 1];\n"
      "  if (n > 0) { y[0] = x[0]; y[n - 1] = x[n - 1]; }\n");
  return text;
}

const std::string& stencil_backward() {
  static const std::string text = pairs_with(
      "  if (n > 0) { y[0] = x[0]; y[n - 1] = x[n - 1]; }\n"
      "  for (int i = n - 2; i >= 1; --i) y[i] = x[i - 1] + 3 * x[i + 1];\n");
  return text;
}

const std::string& never_empty() {
  static const std::string text = pairs_with(
      "  for (int i = 0; i + 1 < n; ++i) y[i] = x[i] + 3 * x[i + 1];\n"
      "  y[n - 1] = x[n - 1];\n");
  return text;
}

const std::string& aligned_only() {
  static const std::string text = pairs_with(
      "  const float* from = (const float*)__builtin_assume_aligned(x, 64);\n"
      "  for (int i = 0; i + 1 < n; ++i) y[i] = from[i] + 3 * from[i + 1];\n"
      "  if (n > 0) y[n - 1] = from[n - 1];\n");
  return text;
}

// The task is made once.
class OwnCallers : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    project_ = new OwnProject();
    project_->write("pairs.cpp", original());
    NewTask wishes;
    wishes.options = {"-O3"};
    wishes.sizes = {{"n", 100'000}};
    const auto made = project_->make("pairs.cpp:pairs", wishes);
    ASSERT_TRUE(made.ok()) << made.error().text();
    folder_ = made->folder;
  }
  static void TearDownTestSuite() { delete project_; }

  void SetUp() override {
    auto task = load_task(folder_);
    ASSERT_TRUE(task.ok()) << task.error().text();
    task_ = *std::move(task);
  }

  [[nodiscard]] Result<Callers> callers_of(const std::string& source) const {
    return Callers::prepare(source, "pairs", task_, own_build(task_), {});
  }

  [[nodiscard]] static std::string objection(const Callers& callers, const std::string& source) {
    const auto objection = callers.objection(source, {});
    return objection.ok() ? *objection : "an error: " + objection.error().text();
  }

  static OwnProject* project_;
  static fs::path folder_;
  Task task_;
};

OwnProject* OwnCallers::project_ = nullptr;
fs::path OwnCallers::folder_;

TEST_F(OwnCallers, FindWhatTheJudgePassesAndAskForNoMore) {
  EvaluationRequest request;
  request.task = folder_.string();
  request.build.options = task_.baselines[0].options;
  request.timed = false;
  for (const std::string& source : {unrolled(), backward(), never_empty(), aligned_only()}) {
    const std::string name = "candidate" + std::to_string(request.sources.size()) + ".cpp";
    project_->write(name, source);
    request.sources.push_back((project_->root() / name).string());
  }
  const auto judged = evaluate(request, {}, {});
  ASSERT_TRUE(judged.ok()) << judged.error().text();
  for (const Evaluated& one : judged->evaluations) {
    EXPECT_EQ(one.certificate.verdict.outcome, Outcome::passed) << one.certificate.verdict.summary;
  }

  const auto callers = callers_of(original());
  ASSERT_TRUE(callers.ok()) << callers.error().text();
  EXPECT_THAT(callers->served(), ElementsAre("", "its arrays are not aligned", "n is 0", "n is 1",
                                             "x and y are the same array"));
  EXPECT_EQ(objection(*callers, unrolled()), "");
  EXPECT_THAT(objection(*callers, backward()),
              HasSubstr("differs from your function when x and y are the same array"));
  EXPECT_THAT(objection(*callers, never_empty()), HasSubstr("when n is 0"));
  EXPECT_THAT(objection(*callers, aligned_only()), HasSubstr("when its arrays are not aligned"));
  EXPECT_THAT(objection(*callers, "void pairs(float);\n"), HasSubstr("does not build"));

  // What the signature forbids, and what the function itself cannot do, is asked of nobody.
  std::string restricted = original();
  restricted.replace(restricted.find("* x"), 1, "* __restrict__");
  const auto apart = callers_of(restricted);
  ASSERT_TRUE(apart.ok()) << apart.error().text();
  EXPECT_THAT(apart->served(), Not(Contains("x and y are the same array")));
  EXPECT_EQ(objection(*apart, backward()), "");
  const auto stencil = callers_of(stencil_forward());
  ASSERT_TRUE(stencil.ok()) << stencil.error().text();
  EXPECT_THAT(stencil->served(), Not(Contains("x and y are the same array")));
  EXPECT_EQ(objection(*stencil, stencil_backward()), "");
  const auto never = callers_of(never_empty());
  ASSERT_TRUE(never.ok()) << never.error().text();
  EXPECT_THAT(never->served(), Not(Contains("n is 0")));
}

// A run of the original and these nodes, each faster than the one before; the last is the best.
class OwnRuns : public OwnCallers {
 protected:
  struct Written {
    std::string own;
    std::vector<std::string> options;
  };

  [[nodiscard]] Result<OwnResult> finish(const std::vector<Written>& nodes) {
    RunReport report;
    auto& run = report.run;
    run.task = task_;
    run.task_path = folder_.string();
    run.settings.fast_math = false;
    KP_LET(Store store, Store::open(project_->store(), StoreMode::write));
    KP_LET(const auto lock, store.create_run(run));
    std::vector<Written> all = {{original(), {}}};
    all.insert(all.end(), nodes.begin(), nodes.end());
    for (const Written& one : all) {
      KP_LET(const std::string source, adapted(task_, one.own, Backend::cpu));
      Node node;
      node.id = std::ssize(report.nodes);
      node.source_hash = sha256(source);
      node.options = task_.baselines[0].options;
      node.options.insert(node.options.end(), one.options.begin(), one.options.end());
      node.outcome = Outcome::passed;
      node.confirmed = node.id != root_node;
      node.speedup = 1.0 + 0.5 * static_cast<double>(node.id);
      KP_TRY(store.add_node(run.id, node, source));
      report.nodes.push_back(node);
    }
    report.best = std::ssize(nodes);
    return finish_own_run(report, project_->store(), project_->root() / "pairs.patch", {}, {});
  }

  // The user's file with the patch in it; the file itself is as before.
  [[nodiscard]] static std::string patched() {
    const Finished applied = run_in({"patch", "-p1", "-i", "pairs.patch"}, project_->root());
    EXPECT_TRUE(applied.succeeded()) << applied.output;
    const auto text = read_file(project_->root() / "pairs.cpp");
    project_->write("pairs.cpp", original());
    return text.ok() ? *text : "";
  }
};

TEST_F(OwnRuns, PutTheNextBestInThePlaceOfARefusedPatch) {
  const auto result = finish({{unrolled(), {}}, {backward(), {}}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_THAT(result->refused,
              ElementsAre(HasSubstr("the patch of node 2 differs from your function when x and y "
                                    "are the same array")));
  EXPECT_EQ(result->patch_file, project_->root() / "pairs.patch");
  EXPECT_THAT(patched(), HasSubstr("const float b"));
}

TEST_F(OwnRuns, SayWhichFlagsAPatchNeedsThatIsNothingWithoutThem) {
  const auto result = finish({{in_threads(), {"openmp", "target"}}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_THAT(result->refused, ElementsAre());
  EXPECT_FALSE(result->faster);
  EXPECT_EQ(result->speedup, 1);  // the same code in a build without OpenMP
  EXPECT_THAT(result->missing_flags, MatchesRegex("-fopenmp -m(arch|cpu)=native"));
  EXPECT_EQ(result->best_node, std::nullopt);
  EXPECT_THAT(patched(), HasSubstr("#pragma omp parallel for"));
}

// Whether it is faster there is no matter here.
TEST_F(OwnRuns, JudgeWhatNeedsNoThreadsInTheUsersOwnBuildToo) {
  const auto result = finish({{unrolled(), {}}, {in_threads(), {"openmp"}}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  const std::string file = patched();
  if (result->faster) {
    EXPECT_THAT(file, HasSubstr("const float b"));
    EXPECT_EQ(result->best_node, NodeId{2});
  } else {
    EXPECT_THAT(file, HasSubstr("#pragma omp parallel for"));
    EXPECT_EQ(result->best_node, std::nullopt);
  }
  EXPECT_EQ(result->best_speedup, 2);
}

}  // namespace
}  // namespace kernelpro
