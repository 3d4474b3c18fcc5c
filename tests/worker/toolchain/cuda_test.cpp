#include "worker/toolchain/cuda.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "worker/toolchain/fixture.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* doubling_kernel = R"(
#include <kernelpro/candidate.h>
__global__ void twice(float* x, int64_t n) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < n) x[i] *= 2;
}
extern "C" int kp_launch(const kp_context*, const kp_tensor* t, int32_t) {
  const int64_t n = t[0].shape[0];
  twice<<<static_cast<unsigned>((n + 255) / 256), 256>>>(static_cast<float*>(t[0].data), n);
  return static_cast<int>(cudaGetLastError());
}
)";

constexpr const char* lone_kernel = R"(
extern "C" __global__ void fill(float* x) { x[threadIdx.x] = 1; }
)";

class CudaTest : public ToolchainTest {
 protected:
  void SetUp() override {
    ToolchainTest::SetUp();
    if (!find_nvcc()) {
      GTEST_SKIP() << "nvcc is not installed: builds of CUDA candidates are not tested";
    }
  }

  [[nodiscard]] static BuildRequest request(const std::string& source,
                                            const std::vector<std::string>& options = {}) {
    return {source, "nvcc", options, {}, {}};
  }

  [[nodiscard]] static BuildRequest cubin_request(const std::string& source,
                                                  const std::vector<std::string>& options = {}) {
    BuildRequest out = request(source, options);
    out.cubin = true;
    return out;
  }
};

// Sets a variable of the environment for a while.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) {
      old_ = old;
    }
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

// Whether a process works in a folder below `root`.
bool somebody_works_in(const fs::path& root) {
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", failure)) {
    const fs::path folder = fs::read_symlink(entry.path() / "cwd", failure);
    if (!failure && folder.string().starts_with(root.string() + "/")) {
      return true;
    }
  }
  return false;
}

void wait_until(bool expected, const fs::path& root) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (somebody_works_in(root) != expected) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "nothing changed in 30 s";
    std::this_thread::yield();
  }
}

// Takes the device compiler longer than any test.
constexpr const char* endless_kernel = R"(
template <long Depth, long Path>
struct Tree { static constexpr long size = Tree<Depth - 1, 2 * Path>::size + Tree<Depth - 1, 2 * Path + 1>::size; };
template <long Path>
struct Tree<0, Path> { static constexpr long size = 1; };
__device__ long size = Tree<40, 1>::size;
)";

TEST_F(CudaTest, NvccIsListedLastAndNeverTheDefault) {
  const Toolchain toolchain = open(probed_settings());
  const Compiler& nvcc = toolchain.compilers().back();
  EXPECT_EQ(nvcc.name, "nvcc");
  EXPECT_THAT(nvcc.identity, StartsWith("Cuda compilation tools, release "));
  EXPECT_EQ(nvcc.host_compiler, toolchain.find("g++")->path);
  EXPECT_THAT(nvcc.target_flags, Contains("-gencode=arch=compute_90a,code=sm_90a"));
  EXPECT_NE(toolchain.find("")->name, "nvcc");
}

TEST_F(CudaTest, CandidateIsBuiltWithItsResources) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome outcome = build(toolchain, request(doubling_kernel, {"-O3"}));
  ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
  EXPECT_EQ(outcome.diagnostics, "");
  EXPECT_THAT(outcome.record.flags,
              AllOf(Contains("-O3"), Contains("-std=c++17"), Contains("-lineinfo"),
                    Contains("-gencode=arch=compute_90a,code=sm_90a"), Not(Contains("-O2"))));
  ASSERT_EQ(outcome.record.kernels.size(), 1U);
  EXPECT_EQ(outcome.record.kernels[0].kernel, "twice(float*, long)");
  EXPECT_EQ(outcome.record.kernels[0].architecture, "sm_90a");
  EXPECT_GT(outcome.record.kernels[0].registers, 0);

  void* library = dlopen(outcome.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_NE(dlsym(library, "kp_launch"), nullptr);
  EXPECT_EQ(dlsym(library, "cudaGetLastError"), nullptr);
  dlclose(library);
}

TEST_F(CudaTest, AMainBesideTheKernelMayCallLibrariesThatAreNotHere) {
  const Toolchain toolchain = open(probed_settings());
  const std::string source = std::string("extern \"C\" int not_here();\n") + doubling_kernel;
  const BuildOutcome unused = build(
      toolchain,
      request(source + "int set_up() { return not_here(); }\nint main() { return set_up(); }\n"));
  EXPECT_TRUE(unused.ok) << unused.diagnostics;
  std::string calls = source;
  calls.insert(calls.find("return static_cast<int>"), "if (not_here() != 0) return 1;\n  ");
  EXPECT_FALSE(build(toolchain, request(calls)).ok) << "what is called must be there";
}

TEST_F(CudaTest, SameSourceIsBuiltOnceAndKeepsItsResources) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome first = build(toolchain, cubin_request(lone_kernel));
  const BuildOutcome second = build(toolchain, cubin_request(lone_kernel));
  ASSERT_TRUE(first.ok && second.ok) << first.diagnostics;
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.library, first.library);
  ASSERT_EQ(second.record.kernels.size(), 1U);
  EXPECT_EQ(second.record.kernels[0].kernel, "fill");
  EXPECT_EQ(second.record.kernels[0].registers, first.record.kernels.at(0).registers);
}

TEST_F(CudaTest, FilesFlagsArchitectureAndAbiBelongToTheKey) {
  ToolchainSettings settings = probed_settings();
  const Toolchain toolchain = open(settings);
  BuildRequest wanted = cubin_request("#include \"own.h\"\n#include <kernelpro/candidate.h>\n");
  wanted.files = {{"own.h", "// 1\n"}};
  ASSERT_TRUE(build(toolchain, wanted).ok);
  BuildRequest other = wanted;
  other.files = {{"own.h", "// 2\n"}};
  EXPECT_FALSE(build(toolchain, other).cached);
  other = wanted;
  other.options = {"-DX"};
  EXPECT_FALSE(build(toolchain, other).cached);
  EXPECT_TRUE(build(toolchain, wanted).cached);

  const fs::path headers = scratch() / "include";
  fs::copy(settings.abi_include, headers, fs::copy_options::recursive);
  std::ofstream(headers / "kernelpro" / "candidate.h", std::ios::app) << "typedef int kp_extra;\n";
  settings.abi_include = headers;
  EXPECT_FALSE(build(open(settings), wanted).cached);
  settings.cuda_architecture = "80";
  const BuildOutcome ampere = build(open(settings), wanted);
  EXPECT_FALSE(ampere.cached);
  EXPECT_THAT(ampere.record.flags, Contains("-gencode=arch=compute_80,code=sm_80"));
}

TEST_F(CudaTest, CubinHasDeviceCodeOnly) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome outcome = build(toolchain, cubin_request(lone_kernel));
  ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
  EXPECT_THAT(outcome.library.string(), EndsWith(".cubin"));
  const std::string binary = *read_file(outcome.library);
  constexpr std::size_t machine_offset = 18;
  constexpr char cuda_machine = static_cast<char>(190);
  ASSERT_GT(binary.size(), machine_offset);
  EXPECT_THAT(binary, StartsWith("\x7f"
                                 "ELF"));
  EXPECT_EQ(binary[machine_offset], cuda_machine);

  BuildRequest wrong = cubin_request(lone_kernel);
  wrong.compiler = "g++";
  const Result<BuildOutcome> refused = toolchain.build(wrong);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(refused.error().message, HasSubstr("only nvcc builds a cubin"));
}

TEST_F(CudaTest, SpillsAreCountedAndWarningsStay) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome outcome = build(toolchain, cubin_request(R"(
__global__ void heavy(const float* a, float* b, int n) {
  float r[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) r[i] = a[i * n + threadIdx.x];
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < 48; ++i) r[i] = r[i] * r[(i + 1) % 48] + a[k];
#pragma unroll
  for (int i = 0; i < 48; ++i) b[i * n + threadIdx.x] = r[i];
}
template <typename T> __global__ void plain(T* x) { __shared__ T t[64]; t[threadIdx.x] = *x; __syncthreads(); *x = t[63 - threadIdx.x]; }
template __global__ void plain<double>(double*);
)",
                                                              {"-maxrregcount=16"}));
  ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
  ASSERT_EQ(outcome.record.kernels.size(), 2U);
  for (const KernelResources& kernel : outcome.record.kernels) {
    const bool heavy = kernel.kernel.starts_with("heavy(");
    EXPECT_EQ(kernel.spill_stores > 0, heavy) << kernel.kernel;
    EXPECT_EQ(kernel.spill_loads > 0, heavy) << kernel.kernel;
    EXPECT_EQ(kernel.stack_bytes > 0, heavy) << kernel.kernel;
    EXPECT_EQ(kernel.shared_bytes, heavy ? 0 : 512) << kernel.kernel;
    EXPECT_LE(kernel.registers, 24) << kernel.kernel;
  }
  EXPECT_THAT(outcome.diagnostics, AllOf(HasSubstr("ptxas warning"), Not(HasSubstr("ptxas info"))));
}

TEST_F(CudaTest, ErrorsComeBackInTheCompilersWordsAndNameTheSource) {
  const Toolchain toolchain = open(probed_settings());
  const BuildOutcome device = build(toolchain, request("__global__ void k() { nowhere(); }\n"));
  EXPECT_FALSE(device.ok);
  EXPECT_EQ(device.rule, "");
  EXPECT_THAT(device.diagnostics,
              StartsWith("candidate.cu(1): error: identifier \"nowhere\" is undefined"));
  const BuildOutcome host = build(
      toolchain,
      request(std::string("extern \"C\" int nowhere();\nint x = nowhere();\n") + doubling_kernel));
  EXPECT_FALSE(host.ok);
  EXPECT_THAT(host.diagnostics, AllOf(HasSubstr("undefined reference to `nowhere'"),
                                      Not(HasSubstr("kernelpro-build-"))));
}

TEST_F(CudaTest, BinaryDoesNotDependOnFolders) {
  ToolchainSettings settings = probed_settings();
  const BuildOutcome first = build(open(settings), request(doubling_kernel));
  fs::remove_all(settings.cache / "builds");
  const BuildOutcome second = build(open(settings), request(doubling_kernel));
  ASSERT_TRUE(first.ok && second.ok) << first.diagnostics;
  EXPECT_FALSE(second.cached);
  EXPECT_EQ(first.record.binary_hash, second.record.binary_hash);
}

TEST_F(CudaTest, OptionsAreThoseOfNvcc) {
  const Toolchain toolchain = open(probed_settings());
  for (const char* option : {"-ffast-math", "-Xcompiler=-fplugin=x", "-D x -I/"}) {
    const BuildOutcome outcome = build(toolchain, request(lone_kernel, {option}));
    EXPECT_FALSE(outcome.ok);
    EXPECT_EQ(outcome.rule, option == std::string("-ffast-math") ? "" : "build_option");
    EXPECT_THAT(outcome.diagnostics, HasSubstr(option));
  }
  const BuildOutcome outcome =
      build(toolchain, cubin_request(lone_kernel, {"-O3",
                                                   "-std=c++20",
                                                   "--use_fast_math",
                                                   "-ftz=true",
                                                   "-prec-div=false",
                                                   "-prec-sqrt=false",
                                                   "-fmad=true",
                                                   "-maxrregcount=64",
                                                   "-diag-suppress=177,20",
                                                   "--extra-device-vectorization",
                                                   "--expt-relaxed-constexpr",
                                                   "--expt-extended-lambda",
                                                   "-Xptxas",
                                                   "-O2,-dlcm=ca",
                                                   "-Xptxas=-dscm=wt",
                                                   "-Xptxas",
                                                   "--allow-expensive-optimizations=true",
                                                   "-Xptxas",
                                                   "-warn-spills",
                                                   "-Xptxas",
                                                   "-warn-lmem-usage",
                                                   "-DX=1",
                                                   "-UX"}));
  EXPECT_TRUE(outcome.ok) << outcome.diagnostics;
}

TEST_F(CudaTest, VendorLibrariesAreFoundBesideNvcc) {
  const Toolchain toolchain = open(probed_settings());
  const Compiler nvcc = *toolchain.find("nvcc");
  if (!fs::exists(toolkit_libraries(nvcc) / "libcublas.so")) {
    GTEST_SKIP() << "this toolkit has no cuBLAS: linking with it is not tested";
  }
  BuildRequest wanted = request(std::string("#include <cublas_v2.h>\nint get(cublasHandle_t* h) "
                                            "{ return cublasCreate(h); }\n") +
                                doubling_kernel);
  wanted.libraries = {"cublas", "cublasLt"};
  const BuildOutcome outcome = build(toolchain, wanted);
  ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
  EXPECT_THAT(outcome.record.flags, AllOf(Contains("-lcublas"), Contains("-lcublasLt")));
  EXPECT_THAT(*read_file(outcome.library), HasSubstr(toolkit_libraries(nvcc).string()));
}

TEST_F(CudaTest, TimeoutEndsEveryProcessOfTheBuild) {
  ToolchainSettings settings = probed_settings();
  settings.build_timeout_ms = 2000;
  const Toolchain toolchain = open(settings);
  const Variable temporary("TMPDIR", scratch().string());
  const BuildOutcome outcome = build(toolchain, cubin_request(endless_kernel));
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_THAT(outcome.diagnostics, HasSubstr("stopped after 2000 ms"));
  wait_until(false, scratch());
}

TEST_F(CudaTest, StopEndsEveryProcessOfTheBuild) {
  const Toolchain toolchain = open(probed_settings());
  const Variable temporary("TMPDIR", scratch().string());
  std::stop_source stop;
  const std::jthread stopper([&] {
    wait_until(true, scratch());
    stop.request_stop();
  });
  const Result<BuildOutcome> outcome =
      toolchain.build(cubin_request(endless_kernel), stop.get_token());
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::interrupted);
  wait_until(false, scratch());
}

TEST_F(CudaTest, ArchitectureThatNvccDoesNotKnowIsSaidWhenItIsAskedFor) {
  ToolchainSettings settings = probed_settings();
  settings.cuda_architecture = "12";
  const Toolchain toolchain = open(settings);
  EXPECT_TRUE(toolchain.find("").ok());
  const Result<BuildOutcome> outcome = toolchain.build(request(lone_kernel));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::environment);
  EXPECT_THAT(outcome.error().text(), AllOf(HasSubstr("Unsupported gpu architecture 'compute_12'"),
                                            HasSubstr("set CUDA_HOME"), HasSubstr("/nvcc")));
}

class NvccSearch : public ToolchainTest {};

TEST_F(NvccSearch, BrokenNvccOfCudaHomeDisturbsNobodyElse) {
  const ToolchainSettings settings = probed_settings();
  const fs::path program = scratch() / "toolkit" / "bin" / "nvcc";
  fs::create_directories(program.parent_path());
  std::ofstream(program) << "#!/bin/sh\necho no license >&2\nexit 1\n";
  fs::permissions(program, fs::perms(0755));
  const Variable home("CUDA_HOME", (scratch() / "toolkit").string());
  EXPECT_EQ(find_nvcc(), program.string());
  const Toolchain toolchain = open(settings);
  EXPECT_TRUE(build(toolchain, {doubling_source, "", {}, {}, {}}).ok);
  const Result<Compiler> nvcc = toolchain.find("nvcc");
  ASSERT_FALSE(nvcc.ok());
  EXPECT_EQ(nvcc.error().kind, ErrorKind::environment);
  EXPECT_THAT(nvcc.error().text(), AllOf(HasSubstr("no license"), HasSubstr(program.string())));
}

TEST_F(NvccSearch, MissingNvccSaysWhatToInstall) {
  if (find_nvcc()) {
    GTEST_SKIP() << "nvcc is installed here";
  }
  const Result<BuildOutcome> outcome =
      open(probed_settings()).build({lone_kernel, "nvcc", {}, {}, {}});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::environment);
  EXPECT_THAT(outcome.error().message,
              AllOf(HasSubstr("install the CUDA toolkit"), HasSubstr("set CUDA_HOME")));
}

TEST_F(NvccSearch, PathIsNotSearched) {
  const fs::path program = scratch() / "nvcc";
  std::ofstream(program) << "#!/bin/sh\n";
  fs::permissions(program, fs::perms(0755));
  const Variable path("PATH", scratch().string());
  EXPECT_NE(find_nvcc(), program.string());
}

TEST_F(NvccSearch, CuptiIsTheOneNamedElseThatOfTheToolkit) {
  const fs::path chosen = scratch() / "libcupti.so.99";
  std::ofstream(chosen) << "";
  {
    const Variable named("KERNELPRO_CUPTI", chosen.string());
    EXPECT_EQ(cupti_library({}), chosen);
  }
  const Variable none("KERNELPRO_CUPTI", (scratch() / "nowhere.so").string());
  EXPECT_EQ(cupti_library({}), "");
  Compiler nvcc;
  nvcc.name = nvcc_name;
  nvcc.host_compiler = "g++";
  nvcc.path = (scratch() / "toolkit" / "bin" / "nvcc").string();
  const fs::path beside = scratch() / "toolkit" / "lib64" / "libcupti.so.13";
  fs::create_directories(beside.parent_path());
  fs::create_directories(fs::path(nvcc.path).parent_path());
  std::ofstream(nvcc.path) << "";
  std::ofstream(beside) << "";
  EXPECT_EQ(cupti_library({nvcc}), beside);
}

}  // namespace
}  // namespace kernelpro
