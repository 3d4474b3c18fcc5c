// Tasks made of what PyTorch says of a module, without PyTorch.
#include <gmock/gmock.h>

#include <fstream>

#include "common/base/file.hpp"
#include "coordinator/task/load.hpp"
#include "coordinator/task/torch_problem.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

Task made_of(const std::string& described) {
  const Result<ScratchDir> scratch = ScratchDir::create("problem-test");
  EXPECT_TRUE(scratch.ok());
  fs::create_directories(scratch->path() / "level1");
  std::ofstream(scratch->path() / "level1" / "1_Some.py") << "class Model: pass\n";
  NewProblem wanted;
  wanted.checkout = scratch->path();
  wanted.level = 1;
  wanted.problem = 1;
  wanted.directory = scratch->path() / "tasks";
  wanted.described = described;
  const Result<ProblemTask> made = create_problem_task(wanted);
  EXPECT_TRUE(made.ok()) << made.error().text();
  const Result<Task> task = load_task(made->folder);
  EXPECT_TRUE(task.ok()) << task.error().text();
  return *task;
}

constexpr const char* rest = R"("torch":"2.11","scalars":[],"insensitive_to":[],"degenerate":[],)";

TEST(TorchProblem, OneInputOfAllParametersSaysWhereEachBegins) {
  const Task task = made_of(std::string("{") + rest + R"("flops":4096,
    "inputs":[{"name":"input_0","dtype":"f32","shape":[8,4],"role":"input"},
              {"name":"parameters","dtype":"f32","shape":[192],"role":"parameter"}],
    "outputs":[{"name":"output_0","dtype":"f32","shape":[8,16]}],
    "packed":[{"name":"linear.weight","offset":0,"shape":[16,4]},
              {"name":"norm.mean","offset":64,"shape":[16],"buffer":true}]})");
  EXPECT_THAT(task.inputs[0].parts, IsEmpty());
  EXPECT_THAT(task.inputs[1].parts,
              ElementsAre("0 linear.weight [16,4]", "64 norm.mean [16] buffer"));
}

const std::string a_row_each = R"(
    "inputs":[{"name":"input_0","dtype":"f32","shape":[8,4096],"role":"input"},
              {"name":"norm.mean","dtype":"f32","shape":[8],"role":"parameter"}],
    "outputs":[{"name":"output_0","dtype":"f32","shape":[8]}])";

TEST(TorchProblem, OperationsAndTheLengthOfSumsAreThoseThatWereMeasured) {
  const Task task = made_of(R"({"torch":"2.11","scalars":[],"insensitive_to":["norm.mean"],
    "degenerate":[],"flops":40000,"products":30000,"reduction":4096,
    "operators":[{"name":"addmm","calls":1,"flops":30000},{"name":"mean","calls":2,"flops":10000}],
    "kernels":[{"name":"sgemm_128","launches":1,"share":0.9},
               {"name":"reduce","launches":3,"share":0.1}],)" +
                            a_row_each + "}");
  EXPECT_EQ(task.reduction.text(), "4096");
  EXPECT_EQ(task.work.flops.text(), "40000");
  EXPECT_EQ(task.reference.products, 30000);
  EXPECT_THAT(task.reference.runs,
              ElementsAre("operator addmm: 1 call, 75 % of the operations",
                          "operator mean: 2 calls, 25 % of the operations",
                          "kernel sgemm_128: 1 launch, 90 % of the time on the GPU",
                          "kernel reduce: 3 launches, 10 % of the time on the GPU"));
  EXPECT_THAT(task.reference.without_effect, ElementsAre("norm_mean"));
}

// Files of results from before that: their candidates are still judged.
TEST(TorchProblem, AnOlderDescriptionHasTheLengthOfItsProducts) {
  const Task task = made_of(std::string("{") + rest + R"("flops":65536,)" + a_row_each + "}");
  EXPECT_EQ(task.reduction.text(), "4096") << "65536 / (2 * 8)";
  EXPECT_FALSE(task.reference.products.has_value());
  EXPECT_EQ(made_of(std::string("{") + rest + R"("flops":0,)" + a_row_each + "}").reduction.text(),
            "1");
}

}  // namespace
}  // namespace kernelpro
