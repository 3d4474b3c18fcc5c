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
using ::testing::Not;

// Each element with its neighbor; right in place too, since neighbors are read before they are
// written.
std::string pairs_with(const std::string& body) {
  return "void pairs(const float* x, float* y, int n) {\n" + body + "}\n";
}

const std::string& original() {
  static const std::string text = pairs_with(
      "  for (int i = 0; i + 1 < n; ++i) y[i] = x[i] + 3 * x[i + 1];\n"
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

// A run of three nodes, the fastest of which is wrong in place.
TEST_F(OwnCallers, PutTheNextBestInThePlaceOfARefusedPatch) {
  RunReport report;
  auto& run = report.run;
  run.task = task_;
  run.task_path = folder_.string();
  run.settings.fast_math = false;
  auto store = Store::open(project_->store(), StoreMode::write);
  ASSERT_TRUE(store.ok()) << store.error().text();
  const auto lock = store->create_run(run);
  ASSERT_TRUE(lock.ok()) << lock.error().text();
  for (const std::string& own : {original(), unrolled(), backward()}) {
    const auto source = adapted(task_, own, Backend::cpu);
    ASSERT_TRUE(source.ok()) << source.error().text();
    Node node;
    node.id = std::ssize(report.nodes);
    node.source_hash = sha256(*source);
    node.options = task_.baselines[0].options;
    node.confirmed = node.id != root_node;
    node.speedup = 1.0 + 0.5 * static_cast<double>(node.id);
    ASSERT_TRUE(store->add_node(run.id, node, *source).ok());
    report.nodes.push_back(node);
  }
  report.best = 2;
  const fs::path patch = project_->root() / "pairs.patch";
  const auto result = finish_own_run(report, project_->store(), patch, {}, {});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_THAT(result->refused,
              ElementsAre(HasSubstr("the patch of node 2 differs from your function when x and y "
                                    "are the same array")));
  EXPECT_EQ(result->patch_file, patch);
  const Finished applied = run_in({"patch", "-p1", "-i", "pairs.patch"}, project_->root());
  EXPECT_TRUE(applied.succeeded()) << applied.output << result->patch;
  const auto patched = read_file(project_->root() / "pairs.cpp");
  ASSERT_TRUE(patched.ok());
  EXPECT_THAT(*patched, HasSubstr("const float b"));
  project_->write("pairs.cpp", original());
}

}  // namespace
}  // namespace kernelpro
