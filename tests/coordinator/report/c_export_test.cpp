// The forms with a function for C, built and called as docs/export.md does.
#include <gmock/gmock.h>

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "coordinator/report/certificates.hpp"
#include "coordinator/report/export.hpp"
#include "coordinator/report/torch_certificates.hpp"
#include "coordinator/task/load.hpp"
#include "support/nvcc.hpp"

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

std::string text_of(const fs::path& file) {
  const auto text = read_file(file);
  EXPECT_TRUE(text.ok()) << text.error().text();
  return text.ok() ? *text : "";
}

// The code of `language` behind `heading` in docs/export.md.
std::string documented(const std::string& heading, const std::string& language) {
  const std::string page = text_of(KERNELPRO_SOURCE_DIR "/docs/export.md");
  const std::string open = "```" + language + "\n";
  const std::size_t begin = page.find(open, page.find(heading)) + open.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

// A bundled task's baseline for that backend, as if it had been judged.
Certificate bundled(const std::string& name, Backend backend) {
  const auto task = load_task(KERNELPRO_SOURCE_DIR "/tasks/" + name);
  EXPECT_TRUE(task.ok()) << task.error().text();
  for (const ImplementationSpec& baseline : task->baselines) {
    if (baseline.backend == backend) {
      Certificate certificate = passed_certificate(*task, task->files.at(baseline.file));
      certificate.candidate.backend = backend;
      return certificate;
    }
  }
  ADD_FAILURE() << name << " has no baseline for " << name_of(backend);
  return {};
}

class CExport : public ::testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("c_export_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
  }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }

  void export_as(const Certificate& certificate, ExportForm form, const std::string& name) const {
    const auto files = export_files(certificate, form);
    ASSERT_TRUE(files.ok()) << files.error().text();
    const Status written = write_export(folder() / name, *files, true);
    ASSERT_TRUE(written.ok()) << written.error().text();
  }

  void lay(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_unsynced(folder() / name, text).ok());
  }

  // What a shell prints that must succeed.
  [[nodiscard]] std::string sh(const std::string& script) const {
    Command command;
    command.arguments = {"/bin/sh", "-ec", script};
    command.directory = folder().string();
    command.inherit_environment = true;
    command.timeout_ms = 240'000;
    const auto finished = run_command(command);
    EXPECT_TRUE(finished.ok() && finished->succeeded()) << finished->output << finished->errors;
    return finished.ok() ? finished->output : "";
  }

  std::optional<ScratchDir> scratch_;
};

TEST_F(CExport, HeaderServesSeveralFilesOfCAndCxx) {
  export_as(bundled("axpy", Backend::cpu), ExportForm::header, "axpy");
  lay("app.c", documented("A program that uses it", "c"));
  lay("kernel.cpp", documented("**A header.**", "c"));
  lay("other.cpp",
      "#include \"kernelpro_axpy.h\"\n#include \"kernelpro_axpy.h\"\n"
      "auto* const used = &kernelpro_axpy;\n");
  std::string build = documented("**A header.**", "sh");
  build.replace(build.rfind("app.o"), 0, "other.cpp -Iaxpy ");
  EXPECT_EQ(sh(build + "./app"), "2046.5\n");
}

TEST_F(CExport, TargetOfCMakeBringsItsFlagsAndHeader) {
  Certificate certificate = bundled("axpy", Backend::cpu);
  certificate.build.flags = {"-std=c++20", "-O1", "-fopenmp", "-DODD=\"a;$b\"", "-shared"};
  export_as(certificate, ExportForm::cmake, "axpy");
  lay("app.c", documented("A program that uses it", "c"));
  lay("CMakeLists.txt", documented("**A target of CMake.**", "cmake"));
  EXPECT_THAT(sh(KERNELPRO_CMAKE " -G Ninja -DCMAKE_CXX_STANDARD=11 -DCMAKE_BUILD_TYPE=Debug -B "
                                 "build && " KERNELPRO_CMAKE " --build build -v && build/app"),
              AllOf(HasSubstr("-std=c++20 -O1 -fopenmp"), HasSubstr("2046.5\n")));
}

TEST_F(CExport, LibraryIsCalledFromCAndPython) {
  export_as(bundled("axpy", Backend::cpu), ExportForm::library, "axpy");
  lay("app.c", documented("A program that uses it", "c"));
  lay("app.py", documented("From Python:", "python"));
  EXPECT_EQ(
      sh(documented("**A library.**", "sh") + "./app\n" KERNELPRO_CXX " -xc app.c -xnone -Iaxpy "
                                              "axpy/libkernelpro_axpy.a -o static\n./static"),
      "2046.5\n2046.5\n");
  EXPECT_THAT(sh("nm -D --defined-only axpy/libkernelpro_axpy.so"),
              AllOf(HasSubstr(" kernelpro_axpy\n"), Not(HasSubstr(" kp_launch"))));
  EXPECT_EQ(sh("python3 app.py"), "0 [12.0, 24.0, 36.0]\n");
}

constexpr const char* prepared_kernel = R"(#include "kernelpro/candidate.h"
#include "scale.hpp"
size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) { return 4 * context->axes[0]; }
size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) { return 4 * context->axes[0]; }
int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (tensors[0].data != nullptr || tensors[2].data != nullptr) return 7;
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    static_cast<float*>(context->state)[i] = scale * static_cast<const float*>(tensors[1].data)[i];
  }
  return 0;
}
int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (context->axes[1] != 2 * context->axes[0] || tensors[2].strides[0] != 2 ||
      context->state_bytes != context->workspace_bytes || context->threads != 3) return 8;
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    static_cast<float*>(context->workspace)[i] =
        static_cast<const float*>(tensors[0].data)[i] + static_cast<float*>(context->state)[i];
    for (int j = 0; j < 2; ++j) static_cast<float*>(tensors[2].data)[2 * i + j] =
        static_cast<float*>(context->workspace)[i];
  }
  return 0;
}
)";

// Scratch memory, prepared inputs, derived axes, a header of the task; two kernels in one program.
TEST_F(CExport, FunctionDoesAllThatTheInterfaceAsksOfACaller) {
  Task task = small_task();
  task.name = "with-state";
  task.axes.push_back(AxisSpec{"wide", formula("ceil(n/1)*2")});
  task.inputs[1].constant = true;
  task.outputs[0].shape = {formula("wide/2"), formula("2")};
  task.files["scale.hpp"] = "#pragma once\nconstexpr float scale = 10;\n";
  export_as(passed_certificate(task, prepared_kernel), ExportForm::library, "state");
  export_as(passed_certificate(small_task(), small_source("x[i] * y[i]")), ExportForm::library,
            "small");
  lay("app.c", R"(#include "kernelpro_small.h"
#include "kernelpro_with_state.h"
#include <stddef.h>
_Alignas(64) float x[4] = {1, 2, 3, 4}, y[4] = {1, 2, 3, 4}, out[8];
int main(void) {
  void* state = NULL;
  if (kernelpro_with_state_prepare(&state, 4, y, 3) != 0 || state == NULL) return 1;
  if (kernelpro_with_state(state, 4, x, y, out, 3) != 0 || out[7] != 44 || out[0] != 11) return 2;
  if (kernelpro_with_state(state, 4, x, y, out, 1) != 8) return 3;
  if (kernelpro_with_state(state, 4, x + 1, y, out, 3) != -1) return 4;
  kernelpro_with_state_release(state);
  return kernelpro_small(4, x, y, out, 1) != 0 || out[3] != 16 ? 5 : 0;
}
)");
  (void)sh(
      "sh state/build.sh && sh small/build.sh && cc -Wall -Wextra -Werror -Istate -Ismall -c "
      "app.c && " KERNELPRO_CXX " app.o state/*.a small/*.a -o app && ./app");
}

TEST_F(CExport, KernelOfAPyTorchModuleIsAFunctionToo) {
  const Certificate certificate = testing::relu_certificate();
  const auto source = export_files(certificate);
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().text(),
            "relu · quick: its inputs are drawn by PyTorch, which a bench in C++ cannot do; --as "
            "can be kernelbench, torch, header, cmake or library");
  export_as(certificate, ExportForm::library, "relu");
  lay("app.c",
      "#include \"relu/kernelpro_relu.h\"\n_Alignas(64) float x[40000] = {-1, 2}, y[40000];\n"
      "int main(void) { return kernelpro_relu(x, y, 1) != 0 || y[0] != 0 || y[1] != 2; }\n");
  (void)sh("sh relu/build.sh && cc app.c relu/*.a -o app && ./app");
}

TEST_F(CExport, LibraryOfAGpuIsBuiltByNvcc) {
  if (!find_nvcc()) {
    GTEST_SKIP() << "there is no nvcc here";
  }
  Certificate certificate = bundled("axpy", Backend::cuda);
  testing::make_cuda(certificate);
  export_as(certificate, ExportForm::library, "axpy");
  lay("app.c",
      "#include <stddef.h>\n#include \"axpy/kernelpro_axpy.h\"\n"
      "int main(void) { return kernelpro_axpy(1, 1, (float*)4, NULL, NULL, NULL) + 1; }\n");
  (void)sh("sh axpy/build.sh && cc app.c -Laxpy -lkernelpro_axpy -Wl,-rpath,axpy -o app && ./app");
}

TEST_F(CExport, RefusesAFormAndNamesThoseThatThereAre) {
  const Certificate certificate = bundled("axpy", Backend::cpu);
  const auto patch = export_files(certificate, ExportForm::patch);
  ASSERT_FALSE(patch.ok());
  EXPECT_EQ(patch.error().text(),
            "axpy · quick: its task was not made of a function of yours; --as can be source, "
            "header, cmake or library");
  const auto torch = export_files(certificate, ExportForm::torch);
  ASSERT_FALSE(torch.ok());
  EXPECT_THAT(torch.error().text(), HasSubstr("; --as can be source, header, cmake or library"));
  Certificate odd = passed_certificate(small_task(), small_source("x[i]"));
  odd.task.outputs[0].shape = {formula("n*1.0*2.5/2.5")};
  const auto fraction = export_files(odd, ExportForm::header);
  ASSERT_FALSE(fraction.ok());
  EXPECT_THAT(fraction.error().text(), HasSubstr("need not be whole numbers"));
}

std::vector<std::string> bundled_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(KERNELPRO_SOURCE_DIR "/tasks")) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

class BundledExport : public CExport, public ::testing::WithParamInterface<std::string> {};

TEST_P(BundledExport, HasEveryFormThatIsNotPyTorchs) {
  for (const Backend backend : {Backend::cpu, Backend::cuda}) {
    const Certificate certificate = bundled(GetParam(), backend);
    for (const ExportForm form : {ExportForm::source, ExportForm::header, ExportForm::cmake}) {
      const auto files = export_files(certificate, form);
      EXPECT_TRUE(files.ok()) << files.error().text();
    }
    export_as(certificate, ExportForm::library, std::string(name_of(backend)));
  }
  const std::string source = "/kernelpro_" + GetParam();
  (void)sh(KERNELPRO_CXX " -std=c++20 -Wall -Wextra -Werror -fsyntax-only cpu" + source + ".cpp");
  const std::optional<std::string> nvcc = find_nvcc();
  if (!nvcc) {
    GTEST_SKIP() << "there is no nvcc here";
  }
  const auto built =
      compile_for_cuda(*nvcc, folder() / ("cuda" + source + ".cu"), folder() / "out.o");
  ASSERT_TRUE(built.ok()) << built.error().text();
  EXPECT_TRUE(built->succeeded()) << built->output << built->errors;
}

INSTANTIATE_TEST_SUITE_P(Tasks, BundledExport, ::testing::ValuesIn(bundled_names()),
                         [](const auto& named) { return named.param; });

}  // namespace
}  // namespace kernelpro
