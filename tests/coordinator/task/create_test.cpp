#include "coordinator/task/create.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "coordinator/task/load.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* axpy =
    "void axpy(int n, float a, const float* x, const float* y, float* z) {\n"
    "  for (int i = 0; i < n; ++i) z[i] = a * x[i] + y[i];\n}\n";

class CreateTask : public testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("create_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
  }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }

  void write(const std::string& file, const std::string& content) const {
    ASSERT_TRUE(write_file_unsynced(folder() / file, content).ok());
  }

  // A request for `entry` in user.cpp with that content.
  [[nodiscard]] NewTask request(const std::string& entry, const std::string& source) const {
    write("user.cpp", source);
    NewTask request;
    request.name = "made";
    request.source = folder() / "user.cpp";
    request.entry = entry;
    request.directory = folder() / "tasks";
    return request;
  }

  [[nodiscard]] static std::string error_of(const NewTask& request) {
    const auto made = create_task(request);
    return made.ok() ? "created" : made.error().text();
  }

  [[nodiscard]] std::string content(const std::string& file) const {
    const auto text = read_file(folder() / "tasks/made" / file);
    EXPECT_TRUE(text.ok());
    return text.ok() ? *text : "";
  }

  void expect_compiles(const std::string& source) const {
    write("compiled.cpp", source);
    Command command;
    command.arguments = {"g++",
                         "-std=c++20",
                         "-fsyntax-only",
                         "-Wall",
                         "-Werror=return-type",
                         "-I" + std::string(KERNELPRO_SOURCE_DIR) + "/include",
                         "-I" + folder().string(),
                         (folder() / "compiled.cpp").string()};
    const auto finished = run_command(command);
    ASSERT_TRUE(finished.ok()) << finished.error().text();
    EXPECT_TRUE(finished->succeeded()) << finished->errors << source;
  }

  // Creates and loads the task, and compiles both sources; `call` is the reference's call in C++.
  [[nodiscard]] Task round_trip(const NewTask& request, const std::string& declarations) const {
    const auto made = create_task(request);
    EXPECT_TRUE(made.ok()) << made.error().text();
    auto task = load_task(folder() / "tasks/made");
    EXPECT_TRUE(task.ok()) << task.error().text();
    if (!task.ok()) {
      return {};
    }
    expect_compiles(task->files.at("baseline.cpp"));
    std::string call = task->reference.call.function + "(";
    for (const std::string& argument : task->reference.call.arguments) {
      call += (call.back() == '(' ? "" : ", ") + argument;
    }
    expect_compiles(
        "#include <cstdint>\nusing Real = double;\n#include \"tasks/made/reference.hpp\"\n" +
        ("void check(" + declarations) + ") { " + call + "); }\n");
    return *task;
  }

  std::optional<ScratchDir> scratch_;
};

TEST_F(CreateTask, NeedsNoFlagsForOneAxis) {
  const Task task = round_trip(request("axpy", axpy),
                               "std::int64_t n, Real a, const Real* x, const Real* y, Real* z");
  EXPECT_EQ(task.name, "made");
  ASSERT_EQ(task.inputs.size(), 2U);
  EXPECT_EQ(task.inputs[0].shape[0].text(), "n");
  EXPECT_EQ(task.scalars[0].name, "a");
  EXPECT_EQ(task.work.bytes.text(), "4*n + 4*n + 4*n");
  EXPECT_EQ(task.work.flops.text(), "0");
  EXPECT_EQ(task.timed_shapes[0].at("n"), 1 << 20);
  EXPECT_EQ(task.held_out.at("n").high, 5000);
  EXPECT_THAT(task.baselines[0].options, ElementsAre("-O2"));
  EXPECT_EQ(content("baseline.cpp"), axpy);
  EXPECT_THAT(task.files.at("baseline.cpp"),
              AllOf(HasSubstr(axpy), HasSubstr("static_cast<float*>(tensors[2].data)")));
  ASSERT_TRUE(task.entry.has_value());
  EXPECT_EQ(task.entry->signature,
            "void axpy(int n, float a, const float* x, const float* y, float* z)");
  EXPECT_THAT(task.entry->arguments, ElementsAre("n", "a", "x", "y", "z"));
  EXPECT_THAT(content("reference.hpp"), HasSubstr("void axpy(int n, Real a, const Real* x"));
  EXPECT_THAT(content("task.toml"), HasSubstr("# Set these to the sizes that matter to you"));
}

TEST_F(CreateTask, TakesShapesWorkAndReductionFromFlags) {
  NewTask gemm =
      request("lib::gemm",
              "#include <cstddef>\nnamespace lib {\n"
              "int gemm(size_t m, size_t n, size_t k, const double* A, const double* B,\n"
              "         double* C) {\n"
              "#pragma omp parallel for \\\n    schedule(static)\n"
              "  for (size_t i = 0; i < m; ++i)\n"
              "    for (size_t j = 0; j < n; ++j) {\n"
              "      double sum = 0.0;\n"
              "      for (size_t p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];\n"
              "      C[i * n + j] = sum;\n    }\n  return 0;\n}\n}\n");
  gemm.shapes = {{"A", {"m", "k"}}, {"B", {"k", "n"}}, {"C", {"m", "n"}}};
  gemm.flops = "2*m*n*k";
  gemm.reduction = "k";
  const Task task = round_trip(gemm,
                               "std::int64_t m, std::int64_t n, std::int64_t k, const Real* A, "
                               "const Real* B, Real* C");
  EXPECT_EQ(task.inputs[1].dtype, DType::f64);
  EXPECT_EQ(task.work.bytes.text(), "8*m*k + 8*k*n + 8*m*n");
  EXPECT_EQ(task.work.flops.text(), "2*m*n*k");
  EXPECT_EQ(task.reduction.text(), "k");
  EXPECT_EQ(task.timed_shapes[0].at("k"), 256);
  EXPECT_THAT(task.baselines[0].options, ElementsAre("-O2", "openmp"));
  EXPECT_THAT(content("reference.hpp"),
              AllOf(Not(HasSubstr("pragma omp")), Not(HasSubstr("static)")),
                    HasSubstr("Real sum = Real(0.0);")));
  EXPECT_THAT(task.files.at("baseline.cpp"), HasSubstr("return lib::gemm("));
}

TEST_F(CreateTask, CopiesWhatIsReadAndWritten) {
  NewTask scale = request("scale",
                          "void scale(long rows, long cols, float s, float* restrict y) {\n"
                          "  for (long i = 0; i < rows * (cols + 1); ++i) y[i] *= s;\n}\n");
  scale.shapes = {{"y", {"rows", "cols + 1"}}};
  scale.inouts = {"y"};
  const Task task =
      round_trip(scale, "std::int64_t rows, std::int64_t cols, Real s, const Real* y_in, Real* y");
  ASSERT_EQ(task.inputs.size(), 1U);
  EXPECT_EQ(task.inputs[0].name, "y_in");
  EXPECT_EQ(task.outputs[0].name, "y");
  EXPECT_THAT(task.files.at("baseline.cpp"),
              HasSubstr("__builtin_memcpy(tensors[1].data, tensors[0].data"));
  EXPECT_THAT(content("reference.hpp"), HasSubstr("kp_i < rows*(cols + 1)"));
}

TEST_F(CreateTask, GivesTheReferenceItsScratchMemoryAndFixedNumbers) {
  NewTask gemv =
      request("gemv",
              "int gemv(int m, int n, const float* A, int lda, const float* x, float* y,\n"
              "         float beta, int* at, float* tmp, void* more) {\n"
              "  (void)at; (void)more;\n"
              "  for (int i = 0; i < m; ++i) {\n    tmp[i] = 0;\n"
              "    for (int j = 0; j < n; ++j) tmp[i] += A[i * lda + j] * x[j];\n  }\n"
              "  for (int i = 0; i < m; ++i) y[i] = tmp[i] + beta * y[i];\n"
              "  return 0;\n}\n");
  gemv.shapes = {{"A", {"m", "n"}}, {"x", {"n"}},   {"y", {"m"}},
                 {"at", {"m"}},     {"tmp", {"m"}}, {"more", {"16"}}};
  gemv.inouts = {"y"};
  gemv.workspaces = {"at", "tmp", "more"};
  gemv.fixed = {{"lda", "n"}, {"beta", "0.5"}};
  const Task task =
      round_trip(gemv,
                 "std::int64_t m, std::int64_t n, const Real* A, const Real* x, const "
                 "Real* y_in, Real* y");
  EXPECT_TRUE(task.scalars.empty());
  EXPECT_EQ(task.axes.size(), 2U);
  EXPECT_THAT(content("reference.hpp"),
              AllOf(HasSubstr("std::vector<Real> tmp(static_cast<std::size_t>(4*(m)));"),
                    HasSubstr("std::vector<std::int32_t> at("),
                    HasSubstr("gemv(m, n, A, n, x, y, Real(0.5), at.data(), tmp.data(), "
                              "more.data());")));
}

TEST_F(CreateTask, DescribesSparseInputs) {
  NewTask spmv =
      request("spmv",
              "void spmv(int rows, const int* ptr, const long long* col, const float* v,\n"
              "          const float* x, float* y) {\n"
              "  for (int r = 0; r < rows; ++r) {\n    float s = 0;\n"
              "    for (int e = ptr[r]; e < ptr[r + 1]; ++e) s += v[e] * x[col[e]];\n"
              "    y[r] = s;\n  }\n}\n");
  EXPECT_EQ(
      error_of(spmv),
      "spmv: the signature does not tell the values of ptr, the values of col; add flags like "
      "--values ptr=index:rows --values col=index:rows with the right axes (values: "
      "index:BOUND, offsets:BOUND or csr_columns:BOUND:ROWPTR)");
  spmv.shapes = {{"ptr", {"rows+1"}}, {"col", {"rows*4"}}, {"v", {"rows*4"}}, {"x", {"rows+8"}}};
  spmv.values = {
      {"ptr", "offsets:rows*4"}, {"col", "csr_columns:rows+8:ptr"}, {"x", "uniform:-0.5:0.5"}};
  const Task task = round_trip(spmv,
                               "std::int64_t rows, const std::int32_t* ptr, const std::int64_t* "
                               "col, const Real* v, const Real* x, Real* y");
  EXPECT_EQ(task.inputs[0].values.kind, ValueKind::offsets);
  EXPECT_EQ(task.inputs[1].values.rows_of, "ptr");
  EXPECT_EQ(task.inputs[3].values.high, 0.5);
  EXPECT_EQ(task.work.bytes.text(), "4*(rows+1) + 8*(rows*4) + 4*(rows*4) + 4*(rows+8) + 4*rows");
}

TEST_F(CreateTask, ReadsFloatAsRealThroughout) {
  const Task task = round_trip(
      request(
          "softplus",
          "#include <algorithm>\n#include <cfloat>\n#include <cmath>\n"
          "#define HALF 0.5f\n"
          "// a float comment with expf(x)\n"
          "static float helper(float v) { return std::max(v, 0.0f) + log1pf(::expf(-fabsf(v))); }\n"
          "void softplus(int n, const float* x, float* y) {\n"
          "  const char* text = \"float expf(\";\n  (void)text;\n"
          "  for (int i = 0; i < n; ++i) y[i] = HALF * helper(x[i]) + std::sqrt((float)i) * "
          "1e-3f;\n"
          "}\n"),
      "std::int64_t n, const Real* x, Real* y");
  EXPECT_EQ(task.reference.call.function, "softplus");
  EXPECT_THAT(
      content("reference.hpp"),
      AllOf(HasSubstr("using std::exp;\nusing std::fabs;\nusing std::log1p;\nusing std::sqrt;"),
            HasSubstr("std::max(v, Real(0.0f)) + log1p(exp(-fabs(v)))"),
            HasSubstr("#define HALF Real(0.5f)"), HasSubstr("#include <cfloat>"),
            HasSubstr("// a float comment with expf(x)"), HasSubstr("\"float expf(\""),
            HasSubstr("sqrt((Real)i) * Real(1e-3f)")));
}

TEST_F(CreateTask, PutsLocalHeadersInPlaceOnce) {
  write("inner.h",
        "#pragma once\n#include \"outer.h\"\nstatic float twice(float v) { return 2 * v; }\n");
  write("outer.h", "#pragma once\n#include \"inner.h\"\n");
  const Task task = round_trip(
      request("f",
              "#include \"outer.h\"\n#include \"inner.h\"\n#include <cmath>\n"
              "void f(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = "
              "twice(x[i]); }\n"),
      "std::int64_t n, const Real* x, Real* y");
  EXPECT_EQ(task.outputs.size(), 1U);
  EXPECT_THAT(content("baseline.cpp"), HasSubstr("static float twice"));
  EXPECT_EQ(error_of([&] {
              NewTask other = request("f", "\n#include \"gone.h\"\nvoid f(int n, float* y) {}\n");
              other.name = "other";
              return other;
            }()),
            (folder() / "user.cpp").string() +
                ":2: the included \"gone.h\" does not lie beside this file (looked for " +
                (folder() / "gone.h").string() + "); name its folder: -I DIR");
}

TEST_F(CreateTask, HeadersOfTheSystemInQuotesAndOfOtherFoldersAreFound) {
  ASSERT_TRUE(make_directories(folder() / "more").ok());
  write("more/thrice.h", "#define THRICE(x) (FACTOR * (x))\n");
  NewTask wanted = request("f",
                           "#include \"assert.h\"\n#include <thrice.h>\n"
                           "void f(int n, const float* x, float* y) {\n"
                           "  for (int i = 0; i < n; ++i) y[i] = THRICE(x[i]);\n}\n");
  wanted.flags = {"-I" + (folder() / "more").string(), "-DFACTOR=3"};
  ASSERT_EQ(error_of(wanted), "created");
  EXPECT_THAT(content("baseline.cpp"), HasSubstr("#define THRICE(x)"));
  EXPECT_THAT(content("reference.hpp"), HasSubstr("#define FACTOR 3\n"));
}

TEST_F(CreateTask, APointerThatIsOnlyReadIsAnInputThoughItIsNotConst) {
  NewTask wanted = request("f",
                           "void f(int n, float* weight, float* y) {\n"
                           "  for (int i = 0; i < n; ++i) y[i] = 2 * weight[i];\n}\n");
  wanted.only_read = {"weight"};
  const Task task = round_trip(wanted, "std::int64_t n, const Real* weight, Real* y");
  ASSERT_EQ(task.inputs.size(), 1U);
  EXPECT_EQ(task.inputs[0].name, "weight");
  ASSERT_EQ(task.outputs.size(), 1U);
  EXPECT_THAT(task.files.at("baseline.cpp"), HasSubstr("static_cast<float*>(tensors[0].data)"));
  NewTask unknown = wanted;
  unknown.only_read = {"wieght"};
  unknown.name = "other";
  EXPECT_THAT(error_of(unknown), HasSubstr("--input wieght: there is no pointer parameter of this "
                                           "name; did you mean \"weight\"?"));
}

TEST_F(CreateTask, NumbersByValueAreDrawnAsTheCodeOrTheUserSays) {
  const std::string norm =
      "#include <cmath>\nvoid f(int n, const float* x, float* y, float eps, float gain) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = gain * x[i] / std::sqrt(x[i] * x[i] + eps);\n}\n";
  NewTask wanted = request("f", norm);
  ASSERT_EQ(error_of(wanted), "created");
  EXPECT_THAT(content("task.toml"),
              AllOf(HasSubstr("name = \"eps\"\ndtype = \"f32\"\nrange = [1e-06, 1e-05]"),
                    HasSubstr("name = \"gain\"\ndtype = \"f32\"\nrange = [0.5, 2.0]")));
  wanted.values = {{"eps", "uniform:0.25:0.5"}};
  wanted.folder = "made";
  wanted.directory = folder() / "again";
  ASSERT_EQ(error_of(wanted), "created");
  EXPECT_THAT(*read_file(folder() / "again/made/task.toml"), HasSubstr("range = [0.25, 0.5]"));
  wanted.values = {{"eps", "index:n"}};
  wanted.directory = folder() / "third";
  EXPECT_THAT(error_of(wanted),
              HasSubstr("--values eps=index:n: eps is a number by value; expected "
                        "uniform:LOW:HIGH, or one number for all calls: --fix "
                        "eps=1"));
}

TEST_F(CreateTask, ListsTheShapesThatAreMissing) {
  NewTask two = request("f", "void f(int m, int n, const float* A, const float* B, float* C) {}");
  two.shapes = {{"B", {"n"}}};
  EXPECT_THAT(error_of(two),
              HasSubstr("f: the signature does not tell the shape of A, the shape of C; add flags "
                        "like --shape A=m,n --shape C=m,n with the right axes"));
  EXPECT_FALSE(fs::exists(folder() / "tasks/made"));
}

TEST_F(CreateTask, ExplainsWrongFlags) {
  const auto with = [&](auto change) {
    NewTask changed = request("axpy", axpy);
    change(changed);
    return error_of(changed);
  };
  EXPECT_THAT(with([](NewTask& r) { r.name = "My-task"; }),
              HasSubstr("\"My-task\" is not a task's name: expected a lower-case letter"));
  EXPECT_THAT(
      with([](NewTask& r) { r.source = "/nowhere.cpp"; }),
      HasSubstr("/nowhere.cpp: there is no such file; expected a C++ or CUDA source (--from)"));
  EXPECT_THAT(with([](NewTask& r) { r.shapes = {{"xx", {"n"}}}; }),
              HasSubstr("--shape xx: there is no pointer parameter of this name; did you mean"));
  EXPECT_EQ(with([](NewTask& r) { r.shapes = {{"x", {"q"}}}; }),
            "--shape x: \"q\" is not an axis; known are \"n\"");
  EXPECT_THAT(with([](NewTask& r) { r.flops = "2*"; }), HasSubstr("--flops: the formula \"2*\""));
  EXPECT_THAT(with([](NewTask& r) { r.inouts = {"x"}; }),
              HasSubstr("--inout x: there is no non-const pointer parameter of this name"));
  EXPECT_THAT(with([](NewTask& r) { r.values = {{"x", "index:n"}}; }),
              HasSubstr("--values x=index:n: x holds f32; expected uniform:LOW:HIGH"));
  EXPECT_THAT(with([](NewTask& r) { r.values = {{"x", "uniform:1:0"}}; }),
              HasSubstr("expected two numbers, the lower first"));
  EXPECT_THAT(with([](NewTask& r) {
                r.inouts = {"z"};
                r.shapes = {{"z", {"ceil(n/2)"}}};
              }),
              HasSubstr("--shape z: the shape of an --inout must be made of axes"));
  EXPECT_FALSE(fs::exists(folder() / "tasks/made"));
}

TEST_F(CreateTask, ExplainsFunctionsThatMakeNoTask) {
  EXPECT_THAT(error_of(request("f", "void f(const float* x, float* y) {}")),
              HasSubstr("f: it takes no whole number by value"));
  EXPECT_THAT(error_of(request("f", "void f(int n, const float* x) {}")),
              HasSubstr("f: it writes nothing: every pointer is const"));
  EXPECT_THAT(error_of(request("f", "void f(int n, float* x) {}\nint main() {}")),
              HasSubstr("user.cpp:2: this file defines main()"));
  EXPECT_THAT(error_of(request("f", "#include <arm_neon.h>\nvoid f(int n, float* x) {}")),
              HasSubstr("user.cpp:1: <arm_neon.h>: the reference runs in double"));
}

TEST_F(CreateTask, LeavesNothingBehindWhenTheShapesDoNotEvaluate) {
  NewTask half = request("axpy", axpy);
  half.shapes = {{"x", {"n*0.3"}}};
  EXPECT_THAT(error_of(half), AllOf(HasSubstr((folder() / "tasks/made/task.toml:").string()),
                                    HasSubstr("input x.shape"), HasSubstr("nothing was written")));
  EXPECT_TRUE(fs::is_empty(folder() / "tasks"));
}

TEST_F(CreateTask, NeverWritesOverAFolder) {
  const NewTask first = request("axpy", axpy);
  ASSERT_TRUE(create_task(first).ok());
  const std::string before = content("task.toml");
  EXPECT_THAT(error_of(first),
              HasSubstr("tasks/made: this already exists and is not written over"));
  EXPECT_EQ(content("task.toml"), before);
}

}  // namespace
}  // namespace kernelpro
