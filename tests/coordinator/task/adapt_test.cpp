#include "coordinator/task/adapt.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/file.hpp"
#include "common/model/adapter.hpp"
#include "coordinator/task/create.hpp"
#include "coordinator/task/load.hpp"
#include "support/nvcc.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const fs::path entries = fs::path(KERNELPRO_SOURCE_DIR) / "tests" / "support" / "entries";

class EntryTask : public testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("adapt_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
  }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }

  [[nodiscard]] NewTask request(const fs::path& source, const std::string& entry) const {
    NewTask request;
    request.name = "made";
    request.source = source;
    request.entry = entry;
    request.directory = folder() / "tasks";
    return request;
  }

  // A request for `entry` in a file of that name and content.
  [[nodiscard]] NewTask request(const std::string& file, const std::string& entry,
                                const std::string& content) const {
    EXPECT_TRUE(write_file_unsynced(folder() / file, content).ok());
    return request(folder() / file, entry);
  }

  [[nodiscard]] static std::string error_of(const NewTask& request) {
    const auto made = create_task(request);
    return made.ok() ? "created" : made.error().text();
  }

  [[nodiscard]] static Task made(const NewTask& request) {
    const auto folder = create_task(request);
    EXPECT_TRUE(folder.ok()) << folder.error().text();
    auto task = load_task(request.directory / request.name);
    EXPECT_TRUE(task.ok()) << task.error().text();
    return task.ok() ? *std::move(task) : Task();
  }

  [[nodiscard]] std::string toml() const {
    const auto text = read_file(folder() / "tasks/made/task.toml");
    return text.ok() ? *text : "";
  }

  // Loads the made task after a change in its task.toml.
  [[nodiscard]] std::string error_after(const std::string& from, const std::string& to) const {
    std::string text = toml();
    EXPECT_THAT(text, HasSubstr(from));
    text.replace(text.find(from), from.size(), to);
    EXPECT_TRUE(write_file_unsynced(folder() / "tasks/made/task.toml", text).ok());
    const auto task = load_task(folder() / "tasks/made");
    return task.ok() ? "loaded" : task.error().text();
  }

  void expect_nvcc_takes(const std::string& source) const {
    const auto nvcc = find_nvcc();
    if (!nvcc) {
      return;
    }
    ASSERT_TRUE(write_file_unsynced(folder() / "built.cu", source).ok());
    const auto finished = compile_for_cuda(*nvcc, folder() / "built.cu", folder() / "built.o");
    ASSERT_TRUE(finished.ok()) << finished.error().text();
    EXPECT_TRUE(finished->succeeded()) << finished->output << finished->errors << source;
  }

  std::optional<ScratchDir> scratch_;
};

TEST_F(EntryTask, KernelOfAUserBecomesATaskJudgedAgainstItself) {
  NewTask saxpy = request(entries / "saxpy.cu", "launch_saxpy");
  saxpy.inouts = {"y"};
  const Task task = made(saxpy);
  EXPECT_TRUE(task.reference.baseline);
  EXPECT_THAT(task.summary, HasSubstr("expected values are those of the original"));
  ASSERT_TRUE(task.entry.has_value());
  EXPECT_EQ(task.entry->backend, Backend::cuda);
  EXPECT_EQ(task.entry->signature,
            "cudaError_t launch_saxpy(const float* x, float* y, int n, float a, cudaStream_t "
            "stream)");
  EXPECT_THAT(task.entry->arguments, ElementsAre("x", "y", "n", "a", "stream"));
  EXPECT_EQ(task.entry->copies.at("y"), "y_in");
  EXPECT_EQ(task.baselines[0].compiler, "nvcc");
  const std::string& source = task.files.at("baseline.cu");
  EXPECT_THAT(source, AllOf(HasSubstr("cudaMemcpyAsync(tensors[2].data, tensors[1].data"),
                            HasSubstr("static_cast<int>(context->axes[0])"),
                            HasSubstr("kp_stream)"), Not(HasSubstr("kp_adapter_order"))));
  expect_nvcc_takes(source);
}

TEST_F(EntryTask, AdapterComesOffAsItWentOn) {
  NewTask saxpy = request(entries / "saxpy.cu", "launch_saxpy");
  saxpy.inouts = {"y"};
  const Task task = made(saxpy);
  const auto parts = take_adapter_off(task.files.at("baseline.cu"));
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->own, *read_file(entries / "saxpy.cu"));
  EXPECT_EQ(parts->block, *adapter_block(task));
  EXPECT_FALSE(take_adapter_off(parts->own).has_value());
  EXPECT_FALSE(take_adapter_off(parts->block + parts->own + parts->block).has_value());
}

TEST_F(EntryTask, FunctionWithoutAStreamIsOrderedWithOurs) {
  NewTask sums = request(entries / "row_sums.cu", "rows::row_sums");
  sums.shapes = {{"A", {"m", "n"}}, {"out", {"m"}}};
  sums.reduction = "n";
  const Task task = made(sums);
  EXPECT_EQ(task.entry->function, "rows::row_sums");
  EXPECT_THAT(task.files.at("baseline.cu"),
              AllOf(HasSubstr("kp_adapter_order(kp_stream, nullptr)"),
                    HasSubstr("kp_adapter_order(nullptr, kp_stream)"),
                    HasSubstr("rows::row_sums(static_cast<const float*>(tensors[0].data)")));
  expect_nvcc_takes(task.files.at("baseline.cu"));
}

TEST_F(EntryTask, TrustsAReferenceThatTheUserNames) {
  NewTask saxpy = request(entries / "saxpy.cu", "launch_saxpy");
  saxpy.inouts = {"y"};
  saxpy.reference = (entries / "saxpy_reference.cpp").string();
  const Task task = made(saxpy);
  EXPECT_FALSE(task.reference.baseline);
  EXPECT_THAT(task.summary, Not(HasSubstr("expected values")));
  EXPECT_EQ(task.reference.call.function, "kp_reference");
  EXPECT_THAT(task.reference.call.arguments, ElementsAre("n", "a", "x", "y_in", "y"));
  EXPECT_THAT(task.files.at("reference.hpp"), HasSubstr("launch_saxpy(x, y, n, a);"));
}

TEST_F(EntryTask, PassesHalvesFixedNumbersAndWorkspace) {
  NewTask mixed = request("mixed.cu", "mixed",
                          "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cstdint>\n"
                          "extern \"C\" int mixed(cudaStream_t s, const __half* x, "
                          "const __nv_bfloat16* w, double* y,\n    const int64_t* at, void* tmp, "
                          "unsigned m, long long k, int lda, bool causal, __half scale,\n"
                          "    float eps) {\n  (void)x; (void)w; (void)at; (void)tmp; (void)lda;\n"
                          "  (void)causal; (void)scale; (void)eps; (void)k;\n"
                          "  return cudaMemsetAsync(y, 0, m * sizeof(double), s);\n}\n");
  mixed.shapes = {{"x", {"m", "k"}}, {"w", {"k"}}, {"y", {"m"}}, {"at", {"m"}}, {"tmp", {"8*m"}}};
  mixed.values = {{"at", "index:k"}};
  mixed.fixed = {{"lda", "k"}, {"causal", "1"}, {"eps", "1e-5"}};
  mixed.workspaces = {"tmp"};
  const Task task = made(mixed);
  EXPECT_EQ(task.inputs[0].dtype, DType::f16);
  EXPECT_EQ(task.inputs[1].dtype, DType::bf16);
  EXPECT_EQ(task.inputs[2].dtype, DType::i64);
  EXPECT_EQ(task.axes.size(), 2U);
  EXPECT_EQ(task.scalars.size(), 1U);
  EXPECT_EQ(task.entry->workspace.at("tmp").text(), "1*(8*m)");
  EXPECT_THAT(task.entry->arguments, ElementsAre("stream", "x", "w", "y", "at", "tmp", "m", "k",
                                                 "k", "1", "scale", "1e-5"));
  const std::string& source = task.files.at("baseline.cu");
  EXPECT_THAT(source, AllOf(HasSubstr("kp_workspace"), HasSubstr("static_cast<bool>(1)"),
                            HasSubstr("static_cast<int>(context->axes[1])"),
                            HasSubstr("static_cast<float>(1e-5)")));
  expect_nvcc_takes(source);
}

TEST_F(EntryTask, SourceThatDefinesKpLaunchStaysAsItIs) {
  NewTask saxpy = request(entries / "saxpy.cu", "launch_saxpy");
  saxpy.inouts = {"y"};
  const Task task = made(saxpy);
  const std::string own = "int kp_launch(const kp_context*, const kp_tensor*, int32_t);\n";
  EXPECT_EQ(*adapted(task, own, Backend::cuda), own);
  EXPECT_EQ(*adapted(task, "void f() {}", Backend::cpu), "void f() {}");
  EXPECT_THAT(*adapted(task, "void f() {}  // kp_launch", Backend::cuda),
              HasSubstr("launch_saxpy("));
}

TEST_F(EntryTask, FunctionOfACFileKeepsItsNameForLinkers) {
  NewTask scale = request("scale.c", "scale",
                          "#include <stddef.h>\n/* in place */\nvoid scale(size_t n, float* "
                          "restrict y);\n\nvoid scale(size_t n, float* restrict y) {\n"
                          "  for (size_t i = 0; i < n; ++i) y[i] *= 2;\n}\n");
  scale.inouts = {"y"};
  const Task task = made(scale);
  EXPECT_EQ(task.entry->signature, "extern \"C\" void scale(size_t n, float* __restrict__ y)");
  EXPECT_THAT(
      task.files.at("baseline.cpp"),
      HasSubstr("extern \"C\" void scale(size_t n, float* __restrict__ y);\n\nvoid scale("));
}

TEST_F(EntryTask, CppFileCanBeItsOwnReference) {
  NewTask sums = request(entries / "row_sums.cpp", "row_sums");
  sums.shapes = {{"A", {"m", "n"}}, {"out", {"m"}}};
  sums.reference = original_reference;
  const Task task = made(sums);
  EXPECT_TRUE(task.reference.baseline);
  EXPECT_FALSE(fs::exists(folder() / "tasks/made/reference.hpp"));
  EXPECT_THAT(task.files.at("baseline.cpp"), HasSubstr("return rows::row_sums("));
}

TEST_F(EntryTask, ExplainsWhatCannotBeMapped) {
  const auto of = [&](const std::string& source) { return error_of(request("f.cu", "f", source)); };
  EXPECT_THAT(of("__global__ void k(float* x) {}\nvoid g(int n) {}\nnamespace a { int h() { return "
                 "0; } }\nstruct S { void m() {} };"),
              AllOf(HasSubstr("the function f is not defined here outside a class"),
                    HasSubstr("defined are k (a kernel), g, a::h"), Not(HasSubstr("m,"))));
  EXPECT_THAT(of("__global__ void f(int n, float* x) {}"), HasSubstr("f runs on the GPU"));
  EXPECT_THAT(of("void f(int n, float4* x) {}"),
              AllOf(HasSubstr("parameter 2 of f: `float4*x` points to a type that tensors do not "
                              "have"),
                    HasSubstr("Write a function with such parameters that calls this one")));
  EXPECT_THAT(of("void f(int n, float* x, bool causal) {}"),
              HasSubstr("causal is a switch, and a task judges one setting of it; say which: --fix "
                        "causal=1"));
  EXPECT_THAT(of("void f(int n, float* x, void* tmp) {}"),
              HasSubstr("tmp points to void, so its elements have no type; declare scratch memory "
                        "with --workspace tmp"));
  EXPECT_THAT(of("void f(int n, const float* x, cudaStream_t s) {}"),
              HasSubstr("it writes nothing: every pointer is const"));
  EXPECT_THAT(of("void f(int n, float* x) {}\nint main() {}"), HasSubstr("defines main()"));
  EXPECT_THAT(of("template <class T> void f(int n, T* x) {}"), HasSubstr("f is a template"));
  EXPECT_THAT(of("void f(int n, float* x) {}\nvoid f(int n, double* x) {}"),
              HasSubstr("f is defined 2 times (lines 1 and 2)"));
  EXPECT_THAT(error_of(request("f.cpp", "f", "void f(int n, float* x, cudaStream_t s) {}")),
              HasSubstr("s is a stream, and this is no CUDA source"));
  EXPECT_FALSE(fs::exists(folder() / "tasks/made"));
}

TEST_F(EntryTask, ExplainsWrongFlagsAndReferences) {
  const auto with = [&](auto change) {
    NewTask saxpy = request(entries / "saxpy.cu", "launch_saxpy");
    change(saxpy);
    return error_of(saxpy);
  };
  EXPECT_THAT(with([](NewTask& r) { r.workspaces = {"x"}; }),
              HasSubstr("--workspace x: there is no non-const pointer parameter of this name"));
  EXPECT_THAT(with([](NewTask& r) { r.workspaces = {"y"}; }), HasSubstr("it writes nothing"));
  EXPECT_THAT(with([](NewTask& r) { r.fixed = {{"x", "1"}}; }),
              HasSubstr("--fix x=1: there is no number by value of this name"));
  EXPECT_THAT(with([](NewTask& r) { r.fixed = {{"a", "n"}}; }),
              HasSubstr("--fix a=n: expected a number"));
  EXPECT_THAT(with([](NewTask& r) { r.fixed = {{"n", "5"}}; }),
              HasSubstr("it takes no whole number by value"));
  EXPECT_THAT(with([](NewTask& r) { r.shapes = {{"x", {"rows"}}}; }),
              HasSubstr("--shape x: \"rows\" is not an axis; known are \"n\""));
  EXPECT_THAT(with([](NewTask& r) { r.reference = "/gone.cpp"; }),
              HasSubstr("/gone.cpp: there is no such file; expected a C++ source with the function "
                        "to trust, or `original` (--reference)"));
  const auto reference = [&](const std::string& source) {
    EXPECT_TRUE(write_file_unsynced(folder() / "r.cpp", source).ok());
    return with([&](NewTask& r) { r.reference = (folder() / "r.cpp").string(); });
  };
  EXPECT_THAT(reference("void launch_saxpy(const float* x, float* y, int len, float a) {}"),
              HasSubstr("the reference's parameter len is none of the entry's"));
  EXPECT_THAT(reference("void launch_saxpy(float* x, float* y, int n, float a) {}"),
              HasSubstr("x is another kind of parameter in the reference than in `cudaError_t"));
  EXPECT_THAT(reference("void launch_saxpy(const float* x, int n, float a) {}"),
              HasSubstr("the reference has no parameter y to write"));
  EXPECT_THAT(reference("void other(int n) {}"),
              HasSubstr("the function launch_saxpy is not defined here"));
  EXPECT_FALSE(fs::exists(folder() / "tasks/made"));
}

TEST_F(EntryTask, MistakesInTheMappingAreNamedWithTheirLine) {
  NewTask saxpy = request(entries / "saxpy.cu", "launch_saxpy");
  saxpy.inouts = {"y"};
  const Task task = made(saxpy);
  const std::string good = R"(arguments = ["x", "y", "n", "a", "stream"])";
  EXPECT_THAT(error_after(good, R"(arguments = ["x", "y", "n", "a"])"),
              AllOf(HasSubstr("task.toml:"), HasSubstr("entry.arguments: there are 4 for the 5")));
  EXPECT_THAT(error_after(R"(arguments = ["x", "y", "n", "a"])",
                          R"(arguments = ["z", "y", "n", "a", "stream"])"),
              HasSubstr("for x: \"z\" is not an input"));
  EXPECT_THAT(error_after(R"(["z", "y", "n")", R"(["x", "y", "q")"),
              HasSubstr("for n: \"q\" is not an axis"));
  EXPECT_THAT(error_after(R"(["x", "y", "q", "a")", R"(["x", "y", "n", "b")"),
              HasSubstr("for a: \"b\" is neither a scalar nor a number"));
  EXPECT_THAT(error_after(R"("b", "stream"])", R"("a", "n"])"),
              HasSubstr("a cudaStream_t is given \"stream\""));
  EXPECT_THAT(error_after(R"("a", "n"])", R"("a", "stream"])"), "loaded");
  EXPECT_THAT(error_after("copies = { y = \"y_in\" }", "copies = { y = \"w\" }"),
              HasSubstr("entry.copies: y = \"w\": expected an output and the input"));
  EXPECT_THAT(error_after("copies = { y = \"w\" }", "copies = 3"),
              HasSubstr("expected a table, found the integer 3"));
  EXPECT_THAT(error_after("copies = 3", "copy = 3"), HasSubstr("copy"));
  EXPECT_THAT(error_after("baseline = true", "baseline = false"),
              HasSubstr("expected nothing but baseline = true"));
}

}  // namespace
}  // namespace kernelpro
