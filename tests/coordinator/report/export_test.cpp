#include "coordinator/report/export.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/wire/json.hpp"
#include "coordinator/report/certificates.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::formula;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::passed_certificate;
using testing::small_source;
using testing::small_task;

class Export : public ::testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("export_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
  }

  [[nodiscard]] fs::path folder() const { return scratch_->path() / "exported"; }
  [[nodiscard]] std::string bench() const { return (folder() / "bench").string(); }

  void export_to_folder(const Certificate& certificate) const {
    const auto files = export_files(certificate);
    ASSERT_TRUE(files.ok()) << files.error().text();
    const Status written = write_export(folder(), *files, false);
    ASSERT_TRUE(written.ok()) << written.error().text();
  }

  [[nodiscard]] Finished run(std::vector<std::string> arguments,
                             std::map<std::string, std::string> environment = {}) const {
    Command command;
    command.arguments = std::move(arguments);
    command.directory = folder().string();
    command.environment = std::move(environment);
    command.timeout_ms = 240'000;
    const auto finished = run_command(command);
    EXPECT_TRUE(finished.ok());
    return finished.ok() ? *finished : Finished();
  }

  void build() const {
    const Finished built = run({"sh", "build.sh"});
    ASSERT_TRUE(built.succeeded()) << built.errors;
  }

  // Puts another kernel in the place of the exported one.
  void rebuild_kernel(const std::string& source) const {
    ASSERT_TRUE(write_file_unsynced(folder() / "kernel.cpp", source).ok());
    const Finished built = run({KERNELPRO_CXX, "-std=c++20", "-shared", "-fPIC", "-I.",
                                "kernel.cpp", "-o", "libkernel.so"});
    ASSERT_TRUE(built.succeeded()) << built.errors;
  }

  [[nodiscard]] std::string content(const std::string& name) const {
    const auto text = read_file(folder() / name);
    EXPECT_TRUE(text.ok()) << name;
    return text.ok() ? *text : "";
  }

  static std::string refusal(const Certificate& certificate) {
    const auto files = export_files(certificate);
    return files.ok() ? "exported" : files.error().text();
  }

  std::optional<ScratchDir> scratch_;
};

// The code block of a README.
std::string code_block(const std::string& readme) {
  const std::string open = "```cpp\n";
  const std::size_t begin = readme.find(open) + open.size();
  return readme.substr(begin, readme.find("```", begin) - begin);
}

TEST_F(Export, BuildsInItsFolderMeasuresBothAndFindsWrongOrFailingKernels) {
  Task task = small_task();
  task.files["helper.hpp"] = "#include \"deeper.hpp\"\n";
  task.files["deeper.hpp"] = "constexpr float zero = 0.0F;\n";
  task.files["baseline.cpp"] = "#include \"helper.hpp\"\n" + small_source("x[i] + y[i] + zero");
  const std::string source = small_source("y[i] + x[i]");
  export_to_folder(passed_certificate(task, source));
  build();
  EXPECT_EQ(content("kernel.cpp"), source);

  const Finished measured = run({bench(), "--rounds", "2"});
  EXPECT_TRUE(measured.succeeded()) << measured.errors;
  EXPECT_THAT(measured.output, HasSubstr("small: quick against baseline naive, 2 threads"));
  EXPECT_THAT(measured.output, HasSubstr("n=20000: 2 rounds of 3 calls\n"));
  EXPECT_THAT(measured.output, HasSubstr("certificate  kernel       1.05 us   baseline       2.10 "
                                         "us   speed-up 2.000 [1.900, 2.100]"));
  EXPECT_THAT(measured.output, HasSubstr("differ by 0 at most"));

  rebuild_kernel(small_source("x[i] + y[i] + (i == n - 1 ? 1.0F : 0.0F)"));
  const Finished wrong = run({bench(), "--rounds", "1"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.output, HasSubstr("TOO MUCH"));

  rebuild_kernel(small_source("x[i]", "if (n > 0) return 7;"));
  const Finished failing = run({bench(), "--rounds", "1"});
  EXPECT_EQ(failing.exit_code, 1);
  EXPECT_THAT(failing.errors, HasSubstr("kp_launch of libkernel.so returned 7"));

  const Finished misused = run({bench(), "--rounds", "many"});
  EXPECT_EQ(misused.exit_code, 2);
  EXPECT_THAT(misused.errors, HasSubstr("usage: " + bench() + " [--rounds N] [--threads N]"));
}

TEST_F(Export, BenchGivesTheKernelTheThreadsAndPlacesOfTheCertificate) {
  const std::string told =
      "std::fprintf(stderr, \"threads %d, %s, %s, %s\\n\", context->threads, "
      "std::getenv(\"OMP_NUM_THREADS\"), std::getenv(\"OMP_PROC_BIND\"), "
      "std::getenv(\"OMP_PLACES\"));";
  Certificate certificate = passed_certificate(
      small_task(), "#include <cstdio>\n#include <cstdlib>\n" + small_source("x[i] + y[i]", told));
  certificate.threads = 1;
  export_to_folder(certificate);
  build();
  const Finished measured = run({bench(), "--rounds", "1"});
  EXPECT_THAT(measured.output, HasSubstr("quick against baseline naive, 1 threads"));
  EXPECT_THAT(measured.errors, HasSubstr("threads 1, 1, spread, {"));
  EXPECT_THAT(content("README.md"), HasSubstr("It uses 1 thread(s)"));
  const Finished chosen =
      run({bench(), "--rounds", "1"}, {{"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "cores"}});
  EXPECT_THAT(chosen.errors, HasSubstr("threads 1, 1, close, cores"));
}

// A task with every element type and every kind of values, and a kernel that checks what it is
// given: it returns the number of the first thing that is not as the task says.
Task every_kind() {
  Task task = small_task();
  task.name = "every_kind";
  task.axes.push_back(AxisSpec{"entries", formula("4*n")});
  const auto add = [&task](const std::string& name, DType dtype, const std::string& shape,
                           ValueSpec values, bool constant = false) {
    task.inputs.push_back({name, dtype, {formula(shape)}, std::move(values), constant, ""});
  };
  task.inputs.clear();
  add("doubles", DType::f64, "n", {});
  add("halves", DType::f16, "n", {});
  add("brains", DType::bf16, "n", {ValueKind::uniform, 0.25, 0.5, {}, ""});
  add("bytes", DType::u8, "n", {ValueKind::uniform, 3, 200, {}, ""});
  add("small", DType::i8, "n", {ValueKind::uniform, -7, 8, {}, ""});
  add("short", DType::i16, "n", {ValueKind::index, -1, 1, formula("n"), ""});
  add("columns", DType::i64, "entries", {ValueKind::csr_columns, -1, 1, formula("n"), "rows"},
      true);
  add("rows", DType::i32, "n + 1", {ValueKind::offsets, -1, 1, formula("entries"), ""}, true);
  task.outputs = {{"out", DType::f32, {formula("n"), formula("2")}, {}, false, ""}};
  task.scalars = {{"alpha", DType::f64, 0.5, 2.0}, {"one", DType::f32, 1.0, 1.0}};
  task.reference.call = {"small", {"n", "out"}};
  task.timed_shapes = {{{"n", 500}}, {{"n", 333}}};
  task.held_out = {{"n", {50, 100}}};
  return task;
}

const char* const every_kind_kernel = R"kernel(
#include <cmath>
#include <cstring>
#include "kernelpro/candidate.h"
template <typename T>
static const T* data(const kp_tensor* tensors, int i) { return static_cast<const T*>(tensors[i].data); }
static float half(uint16_t bits) {
  return (bits & 0x8000 ? -1.0f : 1.0f) * std::ldexp(float((bits & 0x3ff) + ((bits & 0x7c00) ? 1024 : 0)), (((bits & 0x7c00) ? (bits >> 10) & 31 : 1)) - 25);
}
static float brain(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) { return 8 * context->axes[0]; }
extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) { return 8; }
extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (context->state_bytes != 8) return 90;
  *static_cast<int64_t*>(context->state) = data<int64_t>(tensors, 6)[3];
  return 0;
}
extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t n = context->axes[0];
  if (count != 9 || context->axis_count != 2 || context->axes[1] != 4 * n) return 1;
  if (context->scalar_count != 2 || context->scalars[1] != 1.0) return 2;
  if (context->scalars[0] < 0.5 || context->scalars[0] > 2.0) return 3;
  if (tensors[8].rank != 2 || tensors[8].shape[1] != 2 || tensors[8].strides[0] != 2) return 4;
  if (tensors[1].dtype.code != KP_FLOAT || tensors[2].dtype.code != KP_BFLOAT || tensors[3].dtype.code != KP_UINT) return 5;
  if (context->workspace_bytes != size_t(8 * n) || *static_cast<int64_t*>(context->state) != data<int64_t>(tensors, 6)[3]) return 6;
  std::memset(context->workspace, 0, 8 * n);
  double sum = 0, half_sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += data<double>(tensors, 0)[i];
    squares += std::pow(half(data<uint16_t>(tensors, 1)[i]), 2);
    half_sum += half(data<uint16_t>(tensors, 1)[i]);
    const float b = brain(data<uint16_t>(tensors, 2)[i]);
    if (!(b >= 0.25f && b <= 0.5f)) return 10;
    if (data<uint8_t>(tensors, 3)[i] < 3 || data<uint8_t>(tensors, 3)[i] >= 200) return 11;
    if (data<int8_t>(tensors, 4)[i] < -7 || data<int8_t>(tensors, 4)[i] >= 8) return 12;
    if (data<int16_t>(tensors, 5)[i] < 0 || data<int16_t>(tensors, 5)[i] >= n) return 13;
  }
  if (std::fabs(sum) > 0.3 * n || std::fabs(half_sum) > 0.3 * n) return 14;
  if (squares < 0.6 * n || squares > 1.5 * n) return 15;
  const int32_t* rows = data<int32_t>(tensors, 7);
  const int64_t* columns = data<int64_t>(tensors, 6);
  if (rows[0] != 0 || rows[n] != 4 * n) return 16;
  for (int64_t row = 0; row < n; ++row) {
    if (rows[row + 1] < rows[row]) return 17;
    for (int32_t p = rows[row]; p < rows[row + 1]; ++p) {
      if (columns[p] < 0 || columns[p] >= n) return 18;
      if (p > rows[row] && columns[p] <= columns[p - 1]) return 19;
    }
  }
  for (int64_t i = 0; i < 2 * n; ++i) static_cast<float*>(tensors[8].data)[i] = float(sum);
  return 0;
}
)kernel";

TEST_F(Export, DrawsEveryKindOfInputAndCallsAsTheInterfaceSays) {
  Task task = every_kind();
  task.files["baseline.cpp"] = every_kind_kernel;
  Certificate certificate = passed_certificate(task, every_kind_kernel);
  certificate.verdict.timing.shapes[1].flushed = true;
  certificate.build.flags.emplace_back("-fopenmp");
  export_to_folder(certificate);
  build();
  const Finished measured = run({bench(), "--rounds", "1"});
  EXPECT_TRUE(measured.succeeded()) << measured.errors;
  EXPECT_THAT(measured.output, HasSubstr("n=500: 1 rounds of 3 calls\n"));
  EXPECT_THAT(measured.output, HasSubstr("n=333: 1 rounds of 3 calls, caches flushed"));

  ASSERT_TRUE(write_file_unsynced(folder() / "call.cpp", code_block(content("README.md"))).ok());
  const Finished compiled =
      run({KERNELPRO_CXX, "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", "-I.", "call.cpp"});
  EXPECT_TRUE(compiled.succeeded()) << compiled.errors;
}

TEST_F(Export, KeepsTheCertificateAndTellsHowToUseTheKernel) {
  Certificate certificate = passed_certificate(small_task(), small_source("x[i] + y[i]"));
  certificate.verdict.suspect = true;
  certificate.verdict.suspicions = {"the machine was busy"};
  export_to_folder(certificate);
  const auto json = parse_json(content("certificate.json"));
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(*json, to_json(certificate));
  EXPECT_THAT(content("README.md"),
              AllOf(HasSubstr("| 0 | `x` | `float` | n | input, any |"),
                    HasSubstr("| 2 | `out` | `float` | n | output |"),
                    HasSubstr("`context->axes`: [0] `n`."),
                    HasSubstr("| n=20000 | 1.05 µs | 2.1 µs | 2.000 | [1.900, 2.100] |"),
                    HasSubstr("Some CPU, 2 cores, 1 MiB"), HasSubstr("**Suspect**"),
                    HasSubstr("- the machine was busy")));
  EXPECT_THAT(content("build.sh"), AllOf(HasSubstr("# the tests' compiler 1.2.3\n"),
                                         HasSubstr("-fPIC -fvisibility=hidden -I. kernel.cpp -o "
                                                   "libkernel.so -Wl,-z,now -Wl,-z,defs\n")));
}

TEST_F(Export, CallsAnotherRivalThanTheBaselineTheIncumbent) {
  Certificate certificate = passed_certificate(small_task(), small_source("x[i] + y[i]"));
  certificate.incumbent.name = "node 3";
  certificate.incumbent.source = small_source("x[i] - -y[i]");
  export_to_folder(certificate);
  EXPECT_EQ(content("incumbent.cpp"), certificate.incumbent.source);
  EXPECT_FALSE(fs::exists(folder() / "baseline.cpp"));
  EXPECT_THAT(content("README.md"), HasSubstr("Compared with the incumbent `node 3`."));
}

TEST_F(Export, RunsNothingThatACertificateSmugglesIn) {
  Certificate certificate = passed_certificate(small_task(), small_source("x[i] + y[i]"));
  certificate.build.compiler_identity = "g++\ntouch pwned1 #\\";
  certificate.build.compiler = "/usr/bin/g++'; touch pwned2; '";
  certificate.build.flags = {"-DX=$(touch pwned3)", "-DY='`touch pwned4`", "; touch pwned5"};
  certificate.candidate.name = "\"; }\n#error injected\\";
  certificate.task.summary = "```\n#error injected";
  export_to_folder(certificate);
  const Finished built =
      run({"sh", "build.sh"}, {{"KERNEL_CXX", "true"}, {"BASELINE_CXX", "true"}});
  EXPECT_TRUE(built.succeeded()) << built.errors;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder())) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("pwned")));
  }
  const Finished compiled = run({KERNELPRO_CXX, "-std=c++20", "-fsyntax-only", "-I.", "bench.cpp"});
  EXPECT_TRUE(compiled.succeeded()) << compiled.errors;
}

TEST_F(Export, RefusesWhatDidNotPassOrWasNotTimed) {
  Certificate certificate = passed_certificate(small_task(), small_source("x[i] + y[i]"));
  certificate.verdict.outcome = Outcome::cheated;
  certificate.verdict.rule = "clock";
  EXPECT_EQ(refusal(certificate),
            "small · quick: its verdict is \"cheated: clock\"; only a candidate that passed is "
            "exported");
  certificate = passed_certificate(small_task(), small_source("x[i] + y[i]"));
  certificate.verdict.timing.shapes.clear();
  EXPECT_THAT(refusal(certificate), HasSubstr("its certificate has no timing to reproduce"));
  certificate = passed_certificate(small_task(), small_source("x[i] + y[i]"));
  certificate.verdict.timing.shapes.front().shape = {{"m", 5}};
  EXPECT_THAT(refusal(certificate), HasSubstr("the axis 'n' is missing"));
}

}  // namespace
}  // namespace kernelpro
