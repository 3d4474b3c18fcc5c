// Launchers as repositories hold them, from FILE.cu:FUNCTION to a task and a patch. No GPU is
// needed: what a GPU would say is asked in tests/gpu.
#include "common/model/adapter.hpp"
#include "coordinator/app/own_build.hpp"
#include "coordinator/app/own_patch.hpp"
#include "coordinator/task/load.hpp"
#include "own/project.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

bool has_nvcc() {
  return find_program("nvcc").has_value();
}

class OwnCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvcc()) {
      GTEST_SKIP() << "no CUDA toolkit: nvcc is not on the PATH";
    }
    fs::copy(KERNELPRO_SOURCE_DIR "/tests/own/cuda", project_.root(), fs::copy_options::recursive);
  }

  [[nodiscard]] Result<Task> make(const std::string& target, NewTask wishes = {}) {
    KP_LET(const OwnTaskMade made, project_.make(target, std::move(wishes)));
    folder_ = made.folder;
    return load_task(made.folder);
  }

  [[nodiscard]] std::string refused(const std::string& target, NewTask wishes = {}) {
    const auto task = make(target, std::move(wishes));
    return task.ok() ? "it became a task" : task.error().text();
  }

  void expect_compiles(const std::string& file) const {
    const Finished built = run_in({"nvcc", "-std=c++17", "-arch=compute_80", "-ptx", "-o",
                                   "/dev/null", "-I", KERNELPRO_SOURCE_DIR "/include", file},
                                  project_.root());
    EXPECT_TRUE(built.succeeded()) << built.errors;
    const Finished host = run_in({"nvcc", "-std=c++17", "-cuda", "-o", "/dev/null", "-I",
                                  KERNELPRO_SOURCE_DIR "/include", file},
                                 project_.root());
    EXPECT_TRUE(host.succeeded()) << host.errors;
  }

  // The baseline as the judge builds it, and the user's file with a change of it patched in.
  void expect_builds_and_patches(const Task& task, const std::string& file, const std::string& from,
                                 const std::string& to) {
    const std::string& baseline = task.files.at("baseline.cu");
    project_.write("judged.cu", baseline);
    expect_compiles("judged.cu");
    auto parts = take_adapter_off(baseline);
    ASSERT_TRUE(parts.has_value());
    const std::size_t at = parts->own.find(from);
    ASSERT_NE(at, std::string::npos);
    const auto origin = read_origin(folder_);
    ASSERT_TRUE(origin.ok()) << origin.error().text();
    const auto patch = make_patch(*origin, parts->own.replace(at, from.size(), to), "");
    ASSERT_TRUE(patch.ok()) << patch.error().text();
    project_.write("own.patch", *patch);
    const Finished applied = run_in({"patch", "-p1", "-i", "own.patch"}, project_.root());
    EXPECT_TRUE(applied.succeeded()) << applied.output << *patch;
    EXPECT_THAT(*read_file(project_.root() / file), HasSubstr(to));
    expect_compiles(file);
  }

  OwnProject project_;
  fs::path folder_;
};

std::vector<std::string> shape_of(const TensorSpec& tensor) {
  std::vector<std::string> texts;
  for (const Formula& extent : tensor.shape) {
    texts.push_back(extent.text());
  }
  return texts;
}

TEST_F(OwnCuda, AnElementwiseLauncherIsLearnedFromTheLoopBesideIt) {
  const auto task = make("gelu.cu:gelu_forward");
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_EQ(task->entry->backend, Backend::cuda);
  ASSERT_EQ(task->inputs.size(), 1U);
  EXPECT_EQ(task->inputs[0].name, "inp");
  EXPECT_THAT(shape_of(task->outputs.at(0)), ElementsAre("N"));
  EXPECT_GE(task->timed_shapes[0].at("N"), 1 << 20) << "a GPU needs something to do";
  EXPECT_THAT(task->files.at("reference.hpp"), HasSubstr("gelu_forward_cpu"));
  expect_builds_and_patches(*task, "gelu.cu", "block_size = 128", "block_size = 512");
}

TEST_F(OwnCuda, AReductionByATemplateIsJudgedByAFunctionInAnotherFile) {
  NewTask wishes;
  wishes.reference = (project_.root() / "row_norm_check.cpp:ops::row_norm_host").string();
  wishes.sizes = {{"rows", 512}, {"cols", 1000}};
  const auto task = make("row_norm.cu:ops::row_norm<float>", wishes);
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_THAT(shape_of(task->outputs.at(0)), ElementsAre("rows"));
  EXPECT_THAT(task->reduction.text(), HasSubstr("cols"));
  expect_builds_and_patches(*task, "row_norm.cu", "threads = 256", "threads = 512");
}

TEST_F(OwnCuda, AStencilKeepsItsOwnSignature) {
  NewTask wishes;
  wishes.sizes = {{"ny", 500}, {"nx", 700}};
  const auto task = make("heat.cu:heat_step", wishes);
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_EQ(task->entry->function, "heat_step");
  EXPECT_THAT(task->entry->arguments, ElementsAre("t", "next", "ny", "nx", "k", "stream"));
  expect_builds_and_patches(*task, "heat.cu", "block(32, 8)", "block(64, 4)");
}

TEST_F(OwnCuda, SaysWhatIsMissing) {
  EXPECT_THAT(refused("gelu.cu:gelu_forward_kernel"),
              AllOf(HasSubstr("gelu.cu:19: gelu_forward_kernel is a kernel"),
                    HasSubstr("void launch_gelu_forward_kernel(floatX* out, const floatX* inp, int "
                              "N, cudaStream_t stream) {\n    gelu_forward_kernel<<<(N + 255) / "
                              "256, 256, 0, stream>>>(out, inp, N);")));
  EXPECT_THAT(refused("row_norm.cu:ops::row_norm<float>"),
              AllOf(HasSubstr("nothing in the file says what is right"),
                    HasSubstr("--reference FILE.cpp:FUNCTION"), HasSubstr("--reference original")));
  EXPECT_THAT(refused("row_norm.cu:ops::row_norm"), HasSubstr("is a template; name the instance"));
  EXPECT_THAT(refused("heat.cu:heat"), HasSubstr("those that use CUDA are heat_step"));
  NewTask other;
  other.reference = (project_.root() / "row_norm_check.cpp:ops::row_norm_host").string();
  EXPECT_THAT(refused("gelu.cu:gelu_forward", other), HasSubstr("has other parameters than"));
  project_.write("broken.cu", "#include \"check.cuh\"\n\nvoid f(float* x, mystery n) {}\n");
  EXPECT_THAT(refused("broken.cu:f"), AllOf(HasSubstr("broken.cu:3:"), HasSubstr("mystery")));
}

TEST_F(OwnCuda, AFileOfARepositoryIsReadAsItIs) {
  EXPECT_THAT(refused("scale_rows.cu:scale_rows"),
              AllOf(HasSubstr("scale_rows.cu:51: scale_rows_cpu in the file may say what is right, "
                              "but it takes no block_size"),
                    HasSubstr("--fix block_size=256")));
  NewTask wishes;
  wishes.fixed = {{"block_size", "256"}};
  wishes.sizes = {{"N", 512}, {"C", 1024}};
  wishes.held_out = {{"C", {32, 512, 32}}};
  wishes.flags = {"-DSHORT"};
  const auto task = make("scale_rows.cu:scale_rows", wishes);
  ASSERT_TRUE(task.ok()) << task.error().text();
  ASSERT_EQ(task->inputs.size(), 2U) << "what is only read is an input, const or not";
  EXPECT_EQ(task->inputs[1].name, "weight");
  EXPECT_EQ(task->inputs[1].dtype, DType::bf16);
  EXPECT_EQ(task->held_out.at("C").step, 32);
  ASSERT_EQ(task->scalars.size(), 1U);
  EXPECT_LT(task->scalars[0].high, 1e-4) << "what keeps a root from zero is small";
  EXPECT_THAT(task->files.at("reference.hpp"),
              AllOf(Not(HasSubstr("cublasCreate")), Not(HasSubstr("\n\n\n\n"))));
  project_.write("judged.cu", "#define SHORT 1\n" + task->files.at("baseline.cu"));
  expect_compiles("judged.cu");
}

TEST_F(OwnCuda, TaskNewReadsItTooAndTrustsTheOriginal) {
  NewTask wishes;
  wishes.name = "scaled";
  wishes.source = project_.root() / "scale_rows.cu";
  wishes.entry = "scale_rows";
  wishes.directory = project_.root() / "tasks";
  wishes.fixed = {{"block_size", "256"}};
  wishes.only_read = {"inp", "weight"};
  wishes.shapes = {{"out", {"N", "C"}}, {"inp", {"N", "C"}}, {"weight", {"C"}}};
  take_build_line("-O3 --use_fast_math --expt-relaxed-constexpr -lcublas", wishes);
  const auto made = make_new_task(wishes, {});
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto task = load_task(*made);
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_TRUE(task->reference.baseline);
  EXPECT_EQ(task->inputs.size(), 2U);
  EXPECT_LT(task->scalars.at(0).high, 1e-4);
  EXPECT_THAT(task->baselines[0].options,
              ElementsAre("-O3", "--use_fast_math", "--expt-relaxed-constexpr"));
  project_.write("judged.cu", task->files.at("baseline.cu"));
  expect_compiles("judged.cu");
}

TEST_F(OwnCuda, TrustsTheOriginalWhenAskedTo) {
  NewTask wishes;
  wishes.reference = original_reference;
  wishes.shapes = {{"x", {"rows", "cols"}}, {"norms", {"rows"}}};
  const auto task = make("row_norm.cu:ops::row_norm<float>", wishes);
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_FALSE(task->files.contains("reference.hpp"));
}

}  // namespace
}  // namespace kernelpro
