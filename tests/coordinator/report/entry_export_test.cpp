#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/model/adapter.hpp"
#include "coordinator/report/certificates.hpp"
#include "coordinator/report/export.hpp"
#include "support/nvcc.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::passed_certificate;
using testing::small_task;

std::string with_adapter(const std::string& own, const std::string& block) {
  return std::string(adapter_head) + own + std::string(adapter_begin) + block +
         std::string(adapter_end);
}

constexpr const char* host_block =
    "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {\n"
    "  mine::add(static_cast<const float*>(tensors[0].data),\n"
    "      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data),\n"
    "      static_cast<int>(context->axes[0]));\n  return 0;\n}\n";

std::string host_source(const std::string& loop) {
  return "// Somebody's own.\nnamespace mine {\nvoid add(const float* x, const float* y, float* "
         "out, int n) {\n" +
         loop + "}\n}  // namespace mine\n";
}

const std::string plain_loop = "  for (int i = 0; i < n; ++i) out[i] = x[i] + y[i];\n";
const std::string better_loop =
    "#pragma GCC unroll 8\n  for (int i = 0; i < n; ++i) out[i] = y[i] + x[i];\n";

// The small task, with a function of somebody's own instead of kp_launch.
Task host_task() {
  Task task = small_task();
  task.entry = EntrySpec{.function = "mine::add",
                         .signature = "void add(const float* x, const float* y, float* out, int n)",
                         .backend = Backend::cpu,
                         .arguments = {"x", "y", "out", "n"},
                         .copies = {},
                         .workspace = {}};
  task.reference = {};
  task.reference.baseline = true;
  task.files.erase("reference.hpp");
  task.files["baseline.cpp"] = with_adapter(host_source(plain_loop), host_block);
  return task;
}

constexpr const char* device_block =
    "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {\n"
    "  add(static_cast<const float*>(tensors[0].data),\n"
    "      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data),\n"
    "      static_cast<int>(context->axes[0]), static_cast<cudaStream_t>(context->stream));\n"
    "  return 0;\n}\n";

std::string device_source(int block) {
  return "__global__ void add_all(const float* x, const float* y, float* out, int n) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = x[i] + "
         "y[i];\n}\n"
         "void add(const float* x, const float* y, float* out, int n, cudaStream_t stream) {\n"
         "  constexpr int block = " +
         std::to_string(block) +
         ";\n  add_all<<<(n + block - 1) / block, block, 0, stream>>>(x, y, out, n);\n}\n";
}

Certificate device_certificate() {
  Task task = host_task();
  task.entry->function = "add";
  task.entry->signature =
      "void add(const float* x, const float* y, float* out, int n, cudaStream_t stream)";
  task.entry->backend = Backend::cuda;
  task.entry->arguments = {"x", "y", "out", "n", "stream"};
  task.baselines[0].backend = Backend::cuda;
  task.baselines[0].file = "baseline.cu";
  task.files = {{"baseline.cu", with_adapter(device_source(64), device_block)}};
  Certificate certificate =
      passed_certificate(task, with_adapter(device_source(256), device_block));
  certificate.candidate.backend = Backend::cuda;
  certificate.build.compiler = "nvcc";
  certificate.build.flags = {"-std=c++17", "-gencode=arch=compute_90a,code=sm_90a",
                             "-Xptxas",    "-O0",
                             "-shared",    "-nodlink",
                             "-Xcompiler", "-fPIC",
                             "-Xlinker",   "-z,now,-z,defs"};
  certificate.incumbent_build = certificate.build;
  return certificate;
}

class EntryExport : public ::testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("entry_export_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
  }

  [[nodiscard]] fs::path folder() const { return scratch_->path() / "exported"; }

  void export_to_folder(const Certificate& certificate) const {
    const auto files = export_files(certificate);
    ASSERT_TRUE(files.ok()) << files.error().text();
    const Status written = write_export(folder(), *files, false);
    ASSERT_TRUE(written.ok()) << written.error().text();
  }

  [[nodiscard]] Finished run(std::vector<std::string> arguments) const {
    Command command;
    command.arguments = std::move(arguments);
    command.directory = folder().string();
    command.inherit_environment = true;
    command.timeout_ms = 240'000;
    const auto finished = run_command(command);
    EXPECT_TRUE(finished.ok());
    return finished.ok() ? *finished : Finished();
  }

  [[nodiscard]] std::string content(const std::string& name) const {
    const auto text = read_file(folder() / name);
    EXPECT_TRUE(text.ok()) << name;
    return text.ok() ? *text : "";
  }

  std::optional<ScratchDir> scratch_;
};

TEST_F(EntryExport, GivesTheFunctionBackForCallersWithTheOldDeclaration) {
  const std::string own = host_source(better_loop);
  export_to_folder(passed_certificate(host_task(), with_adapter(own, host_block)));
  EXPECT_EQ(content("kernel.cpp"), own);
  EXPECT_THAT(
      content("README.md"),
      AllOf(HasSubstr("## Use"),
            HasSubstr("void add(const float* x, const float* y, float* out, int n);"),
            HasSubstr(", in `mine`"), HasSubstr("as built with `-std=c++20 -O1`"),
            HasSubstr("Expected values were those of the original"), Not(HasSubstr("## Call"))));
  ASSERT_TRUE(
      write_file_unsynced(folder() / "caller.cpp",
                          "namespace mine { void add(const float* x, const float* y, float* "
                          "out, int n); }\n"
                          "int main() {\n  const float x[] = {1, 2}, y[] = {10, 20};\n"
                          "  float out[2] = {};\n  mine::add(x, y, out, 2);\n"
                          "  return out[0] == 11 && out[1] == 22 ? 0 : 1;\n}\n")
          .ok());
  const Finished linked = run({KERNELPRO_CXX, "caller.cpp", "kernel.cpp", "-o", "caller"});
  ASSERT_TRUE(linked.succeeded()) << linked.errors;
  EXPECT_TRUE(run({(folder() / "caller").string()}).succeeded());
  const Finished built = run({"sh", "build.sh"});
  ASSERT_TRUE(built.succeeded()) << built.errors;
  const Finished measured = run({(folder() / "bench").string(), "--rounds", "2"});
  EXPECT_TRUE(measured.succeeded()) << measured.output << measured.errors;
  EXPECT_THAT(measured.output, HasSubstr("outputs      differ by 0 at most"));
}

TEST_F(EntryExport, BenchMeasuresTheFunctionThatIsGivenBack) {
  const std::string wrong = host_source("  for (int i = 0; i < n; ++i) out[i] = x[i] - y[i];\n");
  export_to_folder(passed_certificate(host_task(), with_adapter(wrong, host_block)));
  ASSERT_TRUE(run({"sh", "build.sh"}).succeeded());
  const Finished measured = run({(folder() / "bench").string(), "--rounds", "1"});
  EXPECT_EQ(measured.exit_code, 1);
  EXPECT_THAT(measured.output, HasSubstr("TOO MUCH"));
}

TEST_F(EntryExport, KernelThatIsCalledOtherwiseIsGivenInOurInterface) {
  const std::string block =
      "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {\n"
      "  const float* x = static_cast<const float*>(tensors[0].data);\n"
      "  for (int i = 0; i < context->axes[0]; ++i) {\n    static_cast<float*>(tensors[2].data)[i] "
      "=\n        x[i] + static_cast<const float*>(tensors[1].data)[i];\n  }\n  return 0;\n}\n";
  const std::string source = with_adapter(host_source(plain_loop), block);
  export_to_folder(passed_certificate(host_task(), source));
  EXPECT_EQ(content("kernel.cpp"), source);
  EXPECT_FALSE(fs::exists(folder() / "adapter.cpp"));
  EXPECT_THAT(content("README.md"),
              AllOf(HasSubstr("It does not call `mine::add` any more"), HasSubstr("## Call")));
}

TEST_F(EntryExport, KernelOfAGpuIsBuiltByNvcc) {
  const Certificate certificate = device_certificate();
  export_to_folder(certificate);
  EXPECT_EQ(content("kernel.cu"), device_source(256));
  EXPECT_THAT(content("adapter.cu"), HasSubstr("#include \"kernel.cu\""));
  EXPECT_THAT(content("README.md"),
              HasSubstr("void add(const float* x, const float* y, float* out, int n, cudaStream_t "
                        "stream);"));
  if (!find_nvcc()) {
    GTEST_SKIP() << "there is no nvcc here";
  }
  const Finished built = run({"sh", "build.sh"});
  EXPECT_TRUE(built.succeeded()) << built.output << built.errors;
  EXPECT_TRUE(fs::exists(folder() / "bench"));
}

TEST_F(EntryExport, KernelOfAGpuThatIsCalledOtherwiseIsGivenInOurInterface) {
  Certificate certificate = device_certificate();
  certificate.candidate.source =
      with_adapter(device_source(256), std::string(device_block) + "// another\n");
  export_to_folder(certificate);
  EXPECT_EQ(content("kernel.cu"), certificate.candidate.source);
  EXPECT_THAT(content("README.md"),
              AllOf(HasSubstr("It does not call `add` any more"), HasSubstr("KP_CUDA")));
}

}  // namespace
}  // namespace kernelpro
