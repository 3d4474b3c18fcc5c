#include "worker/cuda/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "common/base/clock.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t reading_ms = 50;
constexpr int nvml_success = 0;
constexpr int sm_clock = 1;
constexpr int memory_clock = 2;
// The counter of an H200 moves about every 100 ms; asking costs a call into the driver.
constexpr std::int64_t meter_poll_ns = 5 * ns_per_ms;
constexpr unsigned long long power_cap_reason = 0x4;
constexpr unsigned long long slowdown_reasons = 0x8 | 0x20 | 0x40 | 0x80;

struct ProcessInfo {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct Unload {
  void operator()(void* library) const { dlclose(library); }
};

// Types and signatures are those of nvml.h.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_) {
      find(init_, "nvmlInit_v2");
      find(shut_down_, "nvmlShutdown");
      find(device_by_uuid_, "nvmlDeviceGetHandleByUUID");
      find(power_, "nvmlDeviceGetPowerUsage");
      find(clock_, "nvmlDeviceGetClockInfo");
      find(reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
      find(processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
      find(energy_, "nvmlDeviceGetTotalEnergyConsumption");
      find(power_limit_, "nvmlDeviceGetEnforcedPowerLimit");
    }
    open_ = init_ != nullptr && shut_down_ != nullptr && device_by_uuid_ != nullptr &&
            power_ != nullptr && init_() == nvml_success;
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (open_) {
      shut_down_();
    }
  }

  // Null when there is none.
  [[nodiscard]] void* device(const std::string& uuid) const {
    void* out = nullptr;
    return open_ && device_by_uuid_(uuid.c_str(), &out) == nvml_success ? out : nullptr;
  }

  [[nodiscard]] bool read_power(void* device, unsigned& milliwatts) const {
    return power_(device, &milliwatts) == nvml_success;
  }

  [[nodiscard]] bool open() const { return open_; }

  [[nodiscard]] bool read_energy(void* device, unsigned long long& millijoules) const {
    return energy_ != nullptr && energy_(device, &millijoules) == nvml_success;
  }

  [[nodiscard]] bool read_power_limit(void* device, unsigned& milliwatts) const {
    return power_limit_ != nullptr && power_limit_(device, &milliwatts) == nvml_success;
  }

  [[nodiscard]] GpuState state(void* device) const {
    GpuState out;
    unsigned long long reasons = 0;
    if (clock_ != nullptr) {
      clock_(device, sm_clock, &out.sm_mhz);
      clock_(device, memory_clock, &out.memory_mhz);
    }
    if (reasons_ != nullptr && reasons_(device, &reasons) == nvml_success) {
      out.power_capped = (reasons & power_cap_reason) != 0;
      out.slowed_down = (reasons & slowdown_reasons) != 0;
    }
    std::array<ProcessInfo, 64> users{};
    unsigned count = users.size();
    if (processes_ != nullptr && processes_(device, &count, users.data()) == nvml_success) {
      for (unsigned i = 0; i < count; ++i) {
        out.users.push_back(users[i].pid);
      }
    }
    return out;
  }

 private:
  template <typename Call>
  void find(Call& call, const char* name) {
    call = reinterpret_cast<Call>(dlsym(library_.get(), name));
  }

  std::unique_ptr<void, Unload> library_;
  int (*init_)() = nullptr;
  int (*shut_down_)() = nullptr;
  int (*device_by_uuid_)(const char* uuid, void** device) = nullptr;
  int (*power_)(void* device, unsigned* milliwatts) = nullptr;
  int (*clock_)(void* device, int which, unsigned* mhz) = nullptr;
  int (*reasons_)(void* device, unsigned long long* reasons) = nullptr;
  int (*processes_)(void* device, unsigned* count, ProcessInfo* processes) = nullptr;
  int (*energy_)(void* device, unsigned long long* millijoules) = nullptr;
  int (*power_limit_)(void* device, unsigned* milliwatts) = nullptr;
  bool open_ = false;
};

class GpuMeter : public EnergyMeter {
 public:
  // An environment error when there is no such GPU or it has no counter.
  [[nodiscard]] Status find(const std::string& uuid) {
    if (!nvml_.open()) {
      return make_error(ErrorKind::environment,
                        "the driver's management library (libnvidia-ml.so.1) cannot be used");
    }
    device_ = nvml_.device(uuid);
    unsigned long long millijoules = 0;
    if (device_ == nullptr || !nvml_.read_energy(device_, millijoules)) {
      return make_error(ErrorKind::environment, "this GPU has no energy counter");
    }
    return {};
  }

  [[nodiscard]] std::string name() const override { return "NVML total energy"; }

  [[nodiscard]] Result<double> joules() override {
    unsigned long long millijoules = 0;
    if (!nvml_.read_energy(device_, millijoules)) {
      return make_error(ErrorKind::environment, "the GPU's energy counter cannot be read any more");
    }
    return static_cast<double>(millijoules) / 1e3;
  }

  [[nodiscard]] std::int64_t poll_ns() const override { return meter_poll_ns; }

  [[nodiscard]] std::map<std::string, double> circumstances() override {
    const GpuState state = nvml_.state(device_);
    std::map<std::string, double> out = {{"gpu_sm_mhz", state.sm_mhz},
                                         {"gpu_memory_mhz", state.memory_mhz}};
    unsigned milliwatts = 0;
    if (nvml_.read_power_limit(device_, milliwatts)) {
      out["power_limit_watts"] = milliwatts / 1e3;
    }
    return out;
  }

 private:
  Nvml nvml_;
  void* device_ = nullptr;
};

}  // namespace

std::vector<double> power_readings(const std::string& uuid, std::int64_t duration_ms,
                                   const std::stop_token& stop) {
  const Nvml nvml;
  void* device = nvml.device(uuid);
  if (device == nullptr) {
    return {};
  }
  std::vector<double> watts;
  const std::int64_t end = now_ns() + duration_ms * ns_per_ms;
  while (now_ns() < end && !stop.stop_requested()) {
    unsigned milliwatts = 0;
    if (!nvml.read_power(device, milliwatts)) {
      return {};
    }
    watts.push_back(milliwatts / 1e3);
    std::this_thread::sleep_for(std::chrono::milliseconds(reading_ms));
  }
  return watts;
}

std::optional<GpuState> gpu_state(const std::string& uuid) {
  const Nvml nvml;
  void* device = nvml.device(uuid);
  return device == nullptr ? std::nullopt : std::optional(nvml.state(device));
}

Result<std::unique_ptr<EnergyMeter>> open_gpu_meter(const std::string& uuid) {
  auto meter = std::make_unique<GpuMeter>();
  KP_TRY(meter->find(uuid));
  return std::unique_ptr<EnergyMeter>(std::move(meter));
}

}  // namespace kernelpro
