#include "coordinator/memory/traits.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "common/base/paths.hpp"
#include "coordinator/memory/situation.hpp"
#include "coordinator/memory/trust.hpp"
#include "coordinator/task/load.hpp"

namespace kernelpro::memory {
namespace {

Task bundled(const std::string& name) {
  const auto path = find_task(name);
  EXPECT_TRUE(path.ok());
  const auto task = load_task(*path);
  EXPECT_TRUE(task.ok()) << task.error().text();
  return *task;
}

MachineRecord machine() {
  MachineRecord out;
  out.architecture = "aarch64";
  out.cores = 2;
  out.cache_bytes = 32 << 20;
  return out;
}

Traits seen(const std::string& source, std::vector<std::string> options = {}) {
  Candidate candidate;
  candidate.source = source;
  candidate.options = std::move(options);
  return code_traits(candidate, {});
}

TEST(TaskTraits, DoNotDependOnWhatATaskIsCalled) {
  Task task = bundled("gemm");
  const Traits before = task_traits(task, Backend::cpu, machine());
  task.name = "softmax";
  task.family = "attention";
  task.summary = "something else";
  EXPECT_EQ(task_traits(task, Backend::cpu, machine()), before);
  EXPECT_EQ(before.at("indirect"), 0);
  EXPECT_EQ(before.at("output_rank"), 2);
}

TEST(TaskTraits, OfLikeTasksAreNearerThanThoseOfOthers) {
  const auto traits = [](const std::string& name) {
    return task_traits(bundled(name), Backend::cpu, machine());
  };
  const auto apart = [&traits](const std::string& one, const std::string& other) {
    return distance(task_trait_kinds(), traits(one), traits(other));
  };
  EXPECT_EQ(apart("gemm", "gemm"), 0);
  EXPECT_LT(apart("gemm", "moe_grouped_gemm"), apart("gemm", "softmax"));
  EXPECT_LT(apart("softmax", "layernorm"), apart("softmax", "gemm"));
  EXPECT_LT(apart("kmeans_assign", "maxsim"), apart("kmeans_assign", "layernorm"));
}

TEST(DeviceTraits, OfAGpuAreItsOwn) {
  MachineRecord here = machine();
  here.gpus = {{"Example", "", "90a", "13.0", 132, 0, 50 << 20}};
  const Traits traits = device_traits(here, {}, Backend::cuda);
  EXPECT_EQ(traits.at("generation"), 90);
  EXPECT_NEAR(traits.at("cores"), std::log2(132), 0.2);
  EXPECT_FALSE(traits.contains("arm"));
  EXPECT_EQ(architecture_of(here, Backend::cuda), "90a");
  EXPECT_EQ(architecture_of(here, Backend::cpu), "aarch64");
}

TEST(CodeTraits, AreReadFromTheText) {
  const Traits traits = seen(
      "// kp:tune T = 1 2\nconstexpr int T = 1;\n"
      "void f(int n, const int* at, float* x) {\n"
      "  #pragma omp parallel for\n"
      "  for (int i = 0; i < n; ++i)\n    for (int j = 0; j < n; ++j) {\n"
      "      if (x[i] > 0) { x[i] += exp(x[at[j]]); }\n    }\n"
      "  for (int i = 0; i < n; ++i) { x[i] = 0; }\n}\n",
      {"-O3", "target", "openmp"});
  EXPECT_EQ(traits.at("depth"), 2);
  EXPECT_EQ(traits.at("branches"), 1);
  EXPECT_EQ(traits.at("indirect"), 1);
  EXPECT_EQ(traits.at("math"), 1);
  EXPECT_EQ(traits.at("parallel"), 1);
  EXPECT_EQ(traits.at("target"), 1);
  EXPECT_EQ(traits.at("level"), 3);
  EXPECT_EQ(traits.at("tunables"), 1);
  EXPECT_EQ(seen("void f() { for (;;) {} for (;;) {} } // for (;;) for (;;)").at("depth"), 1);
}

TEST(CodeTraits, OfTextThatIsNoCodeAreReadToo) {
  for (const char* text : {"", "}}}}{{{{", "for for while (((", "]]]] [ [ ;;;", "\"for (", "/*"}) {
    EXPECT_GE(seen(text).at("depth"), 0) << text;
  }
}

TEST(Trust, GoesToWhoeverPredictsBetter) {
  Trust right;
  Trust wrong;
  const double start = right.share();
  for (int i = 0; i < 3; ++i) {
    right.measured(0.7, {0.7, 3}, 0.1);
    wrong.measured(0.0, {0.7, 3}, 0.1);
  }
  EXPECT_GT(right.share(), start);
  EXPECT_LT(wrong.share(), 0.25);
  Trust unasked;
  unasked.measured(0.0, {}, 0.1);
  EXPECT_EQ(unasked.share(), start);
}

}  // namespace
}  // namespace kernelpro::memory
