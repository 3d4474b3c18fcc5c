#include "worker/cuda/cuda_ground.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "worker/cuda/device_memory.hpp"
#include "worker/cuda/nvml.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_host_bytes = 8LL << 30;  // a candidate's work is on the GPU
// A tenth of a second or so of one core.
constexpr double oracle_operations = 2e8;
constexpr double oracle_bytes = 32e6;
constexpr std::int64_t open_files = 4096;
constexpr int most_descriptors = 2400;
// Enough for rounds of 6 ms from 33 us a call up; of shorter calls the clock is known less well.
constexpr int most_sets_a_round = 200;
// A second set that is never called tells a candidate that works ahead; it would have nothing to
// work ahead on where sets are so large that a round has one.
constexpr std::size_t largest_with_decoy = std::size_t{4} << 30;
// Sets of small tensors take whole pages of 2 MiB, so there may be more memory than data.
constexpr double most_round_bytes = 24e9;

// Where the driver's own libraries are: the folder that libcuda.so.1 was loaded from.
fs::path driver_folder() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  Dl_info info{};
  if (library == nullptr || dladdr(dlsym(library, "cuInit"), &info) == 0) {
    return {};
  }
  std::error_code failure;
  return fs::canonical(info.dli_fname, failure).parent_path();
}

// The driver's libraries by name: vendor libraries that lie beside them stay out of reach.
std::vector<std::string> driver_files() {
  std::vector<std::string> out;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(driver_folder(), failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libcuda.so") || name.starts_with("libnvidia-")) {
      out.push_back(fs::weakly_canonical(entry.path(), failure).string());
    }
  }
  return out;
}

std::vector<std::string> device_files() {
  std::vector<std::string> out = {"/dev/null"};
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator("/dev", failure)) {
    if (entry.path().filename().string().starts_with("nvidia")) {
      out.push_back(entry.path().string());
    }
  }
  return out;
}

class CudaGround : public Ground {
 public:
  CudaGround(Gpu& gpu, std::string cupti)
      : gpu_(gpu), cupti_(std::move(cupti)), libraries_(driver_files()), devices_(device_files()) {}

  [[nodiscard]] Backend backend() const override { return Backend::cuda; }
  [[nodiscard]] std::string device() const override { return gpu_.description().uuid; }
  [[nodiscard]] std::string lock_name() const override { return device(); }
  [[nodiscard]] MemoryUnits units() const override {
    return {gpu_.granularity(), device_alignment};
  }
  [[nodiscard]] std::int64_t cache_bytes() const override { return gpu_.description().l2_bytes; }
  [[nodiscard]] int most_sets(std::size_t tensors) const override {
    return std::min(most_sets_a_round, most_descriptors / static_cast<int>(tensors + 1));
  }
  [[nodiscard]] double round_bytes() const override {
    return std::min(most_round_bytes, static_cast<double>(gpu_.free_bytes()) / 4);
  }
  [[nodiscard]] OracleLimits oracle_limits() const override {
    return {oracle_operations, oracle_bytes};
  }
  [[nodiscard]] bool watch_inputs() const override { return true; }
  [[nodiscard]] bool always_flush() const override { return true; }
  [[nodiscard]] bool room_for_decoy(std::size_t set_bytes) const override {
    return set_bytes <= largest_with_decoy;
  }
  [[nodiscard]] std::vector<std::string> disturbances() const override {
    const std::optional<GpuState> state = gpu_state(gpu_.description().uuid);
    if (state && state->slowed_down) {
      return {"the GPU slowed itself down, by heat or for want of power"};
    }
    return {};
  }
  // It launches a kernel: without one the GPU would not even switch to its context.
  [[nodiscard]] std::string null_source() const override {
    return "#include <cuda_runtime.h>\n#include \"kernelpro/candidate.h\"\n"
           "__global__ void nothing() {}\n"
           "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor*, int32_t) {\n"
           "  nothing<<<1, 32, 0, static_cast<cudaStream_t>(context->stream)>>>();\n"
           "  return cudaGetLastError() == cudaSuccess ? 0 : 1;\n}\n";
  }
  [[nodiscard]] std::string default_compiler() const override { return "nvcc"; }
  // On an H200 eight evaluations of one kernel of 33 us differed by 0.5 %, and of some hundred
  // candidates one that was as fast as the baseline came out at 1.01.
  [[nodiscard]] double least_noise() const override { return 0.0075; }
  // On an H200 rounds of honest kernels took up to 30 us longer by our clock than the empty ones.
  [[nodiscard]] double hand_over_doubt_ns() const override { return 30e3; }
  [[nodiscard]] bool enqueues() const override { return true; }
  // The limit on data leaves shared pages out.
  [[nodiscard]] std::int64_t most_resident_bytes() const override { return most_host_bytes; }

  [[nodiscard]] Result<std::unique_ptr<SetMemory>> lay_out(const Task& task,
                                                           const BufferPlan& plan) override {
    auto memory = std::make_unique<DeviceMemory>(gpu_, task, plan, drawer_);
    KP_TRY(memory->allocate());
    return std::unique_ptr<SetMemory>(std::move(memory));
  }

  [[nodiscard]] RunnerSettings runner(const JudgeSettings& settings, const std::string& library,
                                      bool may_link, std::size_t /*buffer_bytes*/) const override {
    RunnerSettings out;
    out.jail = settings.jail;
    out.program = settings.runner;
    out.threads = settings.threads;
    out.stop = settings.stop;
    out.cuda = true;
    out.spin = settings.threads > 1;
    out.environment = {"CUDA_VISIBLE_DEVICES=" + gpu_.description().uuid, "CUDA_CACHE_DISABLE=1",
                       // Vendor libraries hold thousands of kernels: those only as they are used.
                       may_link ? "CUDA_MODULE_LOADING=LAZY" : "CUDA_MODULE_LOADING=EAGER"};
    out.policy.landlock = settings.landlock;
    out.policy.read = runtime_libraries();
    out.policy.read.insert(out.policy.read.end(), libraries_.begin(), libraries_.end());
    out.policy.read.push_back(library);
    if (may_link) {
      for (const char* folder :
           {"/usr/lib", "/lib", "/lib64", "/usr/local", "/opt", "/etc", "/sys", "/proc"}) {
        out.policy.read.push_back(fs::weakly_canonical(folder).string());
      }
    }
    // The driver reserves more address space than any machine has memory: a limit on that would
    // keep it from starting.
    out.policy.heap_bytes = std::min(most_host_bytes, settings.memory_bytes / 2);
    out.policy.devices = devices_;
    out.policy.open_files = open_files;
    // What the driver reads while it opens the GPU; the filter refuses it afterwards.
    out.start_up_read = {"/proc", "/sys", "/etc", "/usr/share/nvidia", "/run"};
    out.start_up_write = {"/proc/self/task"};
    return out;
  }

  [[nodiscard]] std::optional<RunnerSettings> tracing_runner(
      const JudgeSettings& settings, const std::string& library, bool may_link,
      std::size_t buffer_bytes) const override {
    if (cupti_.empty()) {
      return std::nullopt;
    }
    RunnerSettings out = runner(settings, library, may_link, buffer_bytes);
    out.cupti = cupti_;
    out.policy.read.push_back(cupti_);
    return out;
  }

  [[nodiscard]] Result<EnergyMeter*> energy_meter() override {
    if (!meter_) {
      KP_LET(meter_, open_gpu_meter(gpu_.description().uuid));
    }
    return meter_.get();
  }

 private:
  Gpu& gpu_;
  std::unique_ptr<EnergyMeter> meter_;  // opened when it is first asked for
  std::string cupti_;
  std::vector<std::string> libraries_;
  std::vector<std::string> devices_;
};

}  // namespace

std::unique_ptr<Ground> make_cuda_ground(Gpu& gpu, const std::string& cupti) {
  return std::make_unique<CudaGround>(gpu, cupti);
}

}  // namespace kernelpro
