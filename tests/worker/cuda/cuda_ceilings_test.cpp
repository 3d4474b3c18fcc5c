#include "worker/cuda/cuda_ceilings.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "worker/cuda/nvml.hpp"
#include "worker/toolchain/cuda.hpp"
#include "worker/toolchain/fixture.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* source_file = KERNELPRO_SOURCE_DIR "/ceilings/cuda.cu";
constexpr double planted = 12345.5;  // no GPU measures exactly this

constexpr const char* names[] = {"read",        "write",       "copy",        "l2_read",
                                 "shared_read", "fma_f32",     "fma_f64",     "fma_f16",
                                 "tensor_f16",  "tensor_bf16", "tensor_tf32", "tensor_f64",
                                 "tensor_i8",   "launch",      "launch_sync"};

GpuDescription hopper() {
  GpuDescription gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-00000000-1111-2222-3333-444444444444";
  gpu.architecture = "90a";
  gpu.driver_version = 13000;
  return gpu;
}

Compiler some_nvcc() {
  Compiler nvcc;
  nvcc.name = "nvcc";
  nvcc.identity = "Cuda compilation tools, release 13.0, V13.0.88";
  nvcc.target_flags = {"-gencode=arch=compute_90a,code=sm_90a"};
  return nvcc;
}

void write(const fs::path& file, const std::string& content) {
  const Status written = write_file_unsynced(file, content);
  ASSERT_TRUE(written) << written.error().text();
}

// ---- The kernels, wherever nvcc is --------------------------------------------------------------

class CudaCeilingKernels : public ToolchainTest {
 protected:
  void SetUp() override {
    ToolchainTest::SetUp();
    if (!find_nvcc()) {
      GTEST_SKIP() << "nvcc is not installed: the GPU's ceiling kernels are not built";
    }
  }

  // By name; fails unless all are there, without a warning and without a spill.
  std::map<std::string, KernelResources> built_for(const std::string& architecture) {
    ToolchainSettings settings = probed_settings();
    settings.cuda_architecture = architecture;
    const BuildOutcome outcome = build(open(settings), cuda_ceiling_build(*read_file(source_file)));
    EXPECT_TRUE(outcome.ok);
    EXPECT_EQ(outcome.diagnostics, "");
    std::map<std::string, KernelResources> kernels;
    for (const KernelResources& kernel : outcome.record.kernels) {
      EXPECT_EQ(kernel.spill_stores + kernel.spill_loads + kernel.stack_bytes, 0) << kernel.kernel;
      kernels[kernel.kernel] = kernel;
    }
    for (const std::string& name : cuda_ceiling_kernels()) {
      EXPECT_EQ(kernels.count(name), 1U) << name;
    }
    return kernels;
  }
};

TEST_F(CudaCeilingKernels, OfHopperMultiplyFromSharedMemoryInAllTypesButF64) {
  std::map<std::string, KernelResources> kernels = built_for("90a");
  for (const char* name : {"kp_tensor_f16", "kp_tensor_bf16", "kp_tensor_tf32", "kp_tensor_i8"}) {
    EXPECT_EQ(kernels[name].shared_bytes, 40 * 1024) << name;
  }
  EXPECT_EQ(kernels["kp_tensor_f64"].shared_bytes, 0);
}

TEST_F(CudaCeilingKernels, OfAmpereMultiplyFromRegisters) {
  std::map<std::string, KernelResources> kernels = built_for("80");
  EXPECT_EQ(kernels["kp_tensor_f16"].shared_bytes, 0);
  EXPECT_GT(kernels["kp_tensor_f16"].registers, 32);
}

TEST_F(CudaCeilingKernels, BuildBeforeTensorCoresOfEveryTypeToo) {
  built_for("75");
}

// ---- The cache, which needs no GPU --------------------------------------------------------------

TEST(CudaCeilingsKey, IsThatOfGpuDriverCompilerAndSource) {
  const std::string key = cuda_ceilings_key(hopper(), some_nvcc(), "source");
  EXPECT_EQ(key.size(), 32U);
  EXPECT_EQ(cuda_ceilings_key(hopper(), some_nvcc(), "source"), key);

  GpuDescription gpu = hopper();
  gpu.uuid.back() = '5';
  EXPECT_NE(cuda_ceilings_key(gpu, some_nvcc(), "source"), key);
  gpu = hopper();
  gpu.driver_version = 13010;
  EXPECT_NE(cuda_ceilings_key(gpu, some_nvcc(), "source"), key);
  Compiler nvcc = some_nvcc();
  nvcc.identity = "Cuda compilation tools, release 13.1, V13.1.80";
  EXPECT_NE(cuda_ceilings_key(hopper(), nvcc, "source"), key);
  nvcc = some_nvcc();
  nvcc.target_flags = {"-gencode=arch=compute_90,code=sm_90"};
  EXPECT_NE(cuda_ceilings_key(hopper(), nvcc, "source"), key);
  EXPECT_NE(cuda_ceilings_key(hopper(), some_nvcc(), "other source"), key);
}

class CachedCudaCeilings : public testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> scratch = ScratchDir::create("cuda-ceilings-test");
    ASSERT_TRUE(scratch) << scratch.error().text();
    scratch_ = std::make_unique<ScratchDir>(std::move(*scratch));
    for (const char* name : names) {
      ceilings_.list.push_back({name, "GB/s", 0, 2, 1, 3});
    }
  }

  [[nodiscard]] fs::path file() const { return scratch_->path() / "ceilings.json"; }

  [[nodiscard]] std::optional<Ceilings> read_back(const GpuDescription& gpu = hopper()) const {
    write(file(), to_json(ceilings_).dump());
    return read_cuda_ceilings(file(), "key", gpu);
  }

  void drop(const std::string& prefix) {
    std::erase_if(ceilings_.list,
                  [&](const Ceiling& ceiling) { return ceiling.name.starts_with(prefix); });
  }

  std::unique_ptr<ScratchDir> scratch_;
  Ceilings ceilings_{.machine = "key", .list = {}};
};

TEST_F(CachedCudaCeilings, ComeBackWithOrWithoutIdlePower) {
  const std::optional<Ceilings> without = read_back();
  ASSERT_TRUE(without);
  EXPECT_EQ(without->list.size(), std::size(names));
  ceilings_.list.push_back({"idle_power", "W", 0, 75, 74, 76});
  const std::optional<Ceilings> with = read_back();
  ASSERT_TRUE(with);
  EXPECT_EQ(find_ceiling(*with, "idle_power", 0)->median, 75);
}

TEST_F(CachedCudaCeilings, AreNothingWithoutAFile) {
  EXPECT_FALSE(read_cuda_ceilings(file(), "key", hopper()));
}

TEST_F(CachedCudaCeilings, AreNothingWhenTheFileIsDamaged) {
  ASSERT_TRUE(read_back());
  const std::string whole = *read_file(file());
  write(file(), whole.substr(0, whole.size() / 2));
  EXPECT_FALSE(read_cuda_ceilings(file(), "key", hopper()));
}

TEST_F(CachedCudaCeilings, AreNothingUnderAnotherKey) {
  ASSERT_TRUE(read_back());
  EXPECT_FALSE(read_cuda_ceilings(file(), "other", hopper()));
}

TEST_F(CachedCudaCeilings, AreNothingWhenOneIsMissing) {
  const Ceilings whole = ceilings_;
  for (const char* name : {"read", "shared_read", "tensor_i8", "launch_sync"}) {
    ceilings_ = whole;
    drop(name);
    EXPECT_FALSE(read_back()) << name;
  }
}

TEST_F(CachedCudaCeilings, AreNothingWhenOneIsNoNumberOrOfAProcessor) {
  ceilings_.list.front().median = 0;
  EXPECT_FALSE(read_back());
  ceilings_.list.front().median = 2;
  ASSERT_TRUE(read_back());
  ceilings_.list.front().threads = 1;
  EXPECT_FALSE(read_back());
}

TEST_F(CachedCudaCeilings, NeedTensorCoresOnlyWhereTheyAreMeasured) {
  drop("tensor_");
  EXPECT_FALSE(read_back());
  GpuDescription turing = hopper();
  turing.architecture = "75";
  EXPECT_TRUE(read_back(turing));
  GpuDescription blackwell = hopper();
  blackwell.architecture = "100a";
  EXPECT_FALSE(read_back(blackwell));
}

TEST(IdlePower, OfAnUnknownGpuIsNotTold) {
  EXPECT_THAT(power_readings("GPU-none", 60'000, {}), testing::IsEmpty());
}

// ---- On a GPU -----------------------------------------------------------------------------------

// One GPU and one build of the kernels for all tests; the cached ceilings are each test's own.
class MeasuredCudaCeilings : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Result<std::vector<GpuDescription>> gpus = list_gpus();
    if (!gpus) {
      reason_ = gpus.error().text();
      return;
    }
    Result<ScratchDir> scratch = ScratchDir::create("cuda-ceilings-test");
    ASSERT_TRUE(scratch) << scratch.error().text();
    scratch_ = std::make_unique<ScratchDir>(std::move(*scratch));
    setenv("KERNELPRO_LOCK_DIR", scratch_->path().c_str(), 1);
    ToolchainSettings settings;
    settings.cache = scratch_->path();
    settings.abi_include = KERNELPRO_SOURCE_DIR "/include";
    settings.jail = KERNELPRO_BIN_DIR "/kernelpro-jail";
    settings.cuda_architecture = gpus->front().architecture;
    Result<Toolchain> toolchain = Toolchain::open(settings);
    ASSERT_TRUE(toolchain) << toolchain.error().text();
    toolchain_ = std::make_unique<Toolchain>(std::move(*toolchain));
    Result<std::unique_ptr<Gpu>> gpu = Gpu::open(gpus->front(), *toolchain_);
    ASSERT_TRUE(gpu) << gpu.error().text();
    gpu_ = std::move(*gpu);
  }

  static void TearDownTestSuite() {
    gpu_.reset();
    toolchain_.reset();
    scratch_.reset();
  }

  void SetUp() override {
    if (!reason_.empty()) {
      GTEST_SKIP() << "no GPU: " << reason_;
    }
    ASSERT_TRUE(gpu_);
    settings_.cache =
        scratch_->path() / testing::UnitTest::GetInstance()->current_test_info()->name();
    settings_.source = source_file;
  }

  Result<Ceilings> measure(const std::stop_token& stop = {}) {
    return measure_cuda_ceilings(*gpu_, *toolchain_, settings_, stop);
  }

  [[nodiscard]] fs::path write_source(const std::string& content) const {
    EXPECT_TRUE(make_directories(settings_.cache));
    write(settings_.cache / "kernels.cu", content);
    return settings_.cache / "kernels.cu";
  }

  static std::string reason_;
  static std::unique_ptr<ScratchDir> scratch_;
  static std::unique_ptr<Toolchain> toolchain_;
  static std::unique_ptr<Gpu> gpu_;
  CudaCeilingSettings settings_;
};

std::string MeasuredCudaCeilings::reason_;
std::unique_ptr<ScratchDir> MeasuredCudaCeilings::scratch_;
std::unique_ptr<Toolchain> MeasuredCudaCeilings::toolchain_;
std::unique_ptr<Gpu> MeasuredCudaCeilings::gpu_;

void print(const Ceilings& ceilings) {
  for (const Ceiling& ceiling : ceilings.list) {
    fmt::print("{:<12} {:>12.1f} {:<8} {:.1f} to {:.1f}\n", ceiling.name, ceiling.median,
               ceiling.unit, ceiling.low, ceiling.high);
  }
}

TEST_F(MeasuredCudaCeilings, AreOrderedAsAGpuIsAndComeFromTheCacheTheSecondTime) {
  const Result<Ceilings> ceilings = measure();
  ASSERT_TRUE(ceilings) << ceilings.error().text();
  print(*ceilings);
  for (const Ceiling& ceiling : ceilings->list) {
    EXPECT_EQ(ceiling.threads, 0) << ceiling.name;
    EXPECT_GT(ceiling.low, 0) << ceiling.name;
    EXPECT_LE(ceiling.low, ceiling.median) << ceiling.name;
    EXPECT_LE(ceiling.median, ceiling.high) << ceiling.name;
  }
  const auto high = [&](const char* name) { return find_ceiling(*ceilings, name, 0)->high; };
  EXPECT_LT(high("copy"), 2 * high("read"));
  EXPECT_GT(high("copy"), high("read") / 2);
  EXPECT_GT(high("l2_read"), high("read"));
  EXPECT_GT(high("shared_read"), high("l2_read"));
  EXPECT_GT(high("fma_f32"), high("fma_f64") / 2);
  EXPECT_GT(high("launch_sync"), high("launch") / 2);
  if (const Ceiling* tensor = find_ceiling(*ceilings, "tensor_f16", 0)) {
    EXPECT_GT(tensor->high, high("fma_f32"));
    EXPECT_GT(tensor->high, high("tensor_tf32"));
  }

  Ceilings altered = *ceilings;
  altered.list.front().median = planted;
  const fs::path file = settings_.cache / "ceilings" / (altered.machine + ".json");
  ASSERT_TRUE(fs::exists(file));
  write(file, to_json(altered).dump());
  const Result<Ceilings> second = measure();
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(second->list.front().median, planted);
}

TEST_F(MeasuredCudaCeilings, AreNotCachedWhenStopped) {
  ASSERT_TRUE(toolchain_->build(cuda_ceiling_build(*read_file(source_file))));
  std::stop_source stop;
  stop.request_stop();
  const Result<Ceilings> ceilings = measure(stop.get_token());
  ASSERT_FALSE(ceilings);
  EXPECT_EQ(ceilings.error().kind, ErrorKind::interrupted);
  EXPECT_FALSE(fs::exists(settings_.cache / "ceilings"));
}

TEST_F(MeasuredCudaCeilings, NameTheSourceThatIsNotThere) {
  settings_.source = "/nowhere/cuda.cu";
  const Result<Ceilings> ceilings = measure();
  ASSERT_FALSE(ceilings);
  EXPECT_THAT(ceilings.error().text(), HasSubstr("/nowhere/cuda.cu"));
}

TEST_F(MeasuredCudaCeilings, QuoteTheCompilerWhenTheSourceDoesNotBuild) {
  settings_.source = write_source("int broken(");
  const Result<Ceilings> ceilings = measure();
  ASSERT_FALSE(ceilings);
  EXPECT_EQ(ceilings.error().kind, ErrorKind::environment);
  EXPECT_THAT(ceilings.error().text(),
              HasSubstr("kernels.cu: the GPU's ceiling kernels do not build"));
}

TEST_F(MeasuredCudaCeilings, NameTheKernelThatTheSourceLacks) {
  settings_.source = write_source("extern \"C\" __global__ void kp_something() {}");
  const Result<Ceilings> ceilings = measure();
  ASSERT_FALSE(ceilings);
  EXPECT_THAT(ceilings.error().message, HasSubstr("the ceiling kernels lack 'kp_fill'"));
}

}  // namespace
}  // namespace kernelpro
