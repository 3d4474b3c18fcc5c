#include "worker/judge/host_ground.hpp"

#include <algorithm>
#include <filesystem>

#include "common/base/memory.hpp"
#include "worker/judge/host_memory.hpp"
#include "worker/judge/rapl.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t gibibyte = 1LL << 30;

// Room for guards and prepared state, for what the candidate allocates itself, and for what each
// thread reserves (a stack, and an arena of the C library).
std::int64_t memory_limit(const JudgeSettings& settings, std::size_t buffer_bytes) {
  const std::int64_t wanted = 2 * gibibyte + 4 * static_cast<std::int64_t>(buffer_bytes) +
                              settings.threads * (gibibyte / 8);
  return settings.memory_bytes > 0 ? std::min(wanted, settings.memory_bytes) : wanted;
}

// Workspaces of all calls of a round together are shared with it, beside what is its own.
std::int64_t most_workspace_bytes() {
  return std::max(available_memory_bytes(), 2 * gibibyte) / 2;
}

class HostGround : public Ground {
 public:
  HostGround(std::int64_t cache_bytes, OracleLimits limits)
      : cache_bytes_(cache_bytes), limits_(limits) {}

  [[nodiscard]] Backend backend() const override { return Backend::cpu; }
  [[nodiscard]] std::string device() const override { return ""; }
  [[nodiscard]] std::string lock_name() const override { return "cpu"; }
  [[nodiscard]] MemoryUnits units() const override { return host_units(); }
  [[nodiscard]] std::int64_t cache_bytes() const override { return cache_bytes_; }
  [[nodiscard]] int most_sets(std::size_t /*tensors*/) const override {
    return runner::max_sets - 1;
  }
  [[nodiscard]] double round_bytes() const override { return 256 << 20; }
  [[nodiscard]] OracleLimits oracle_limits() const override { return limits_; }
  // Sealed: nobody but us can ever write to them.
  [[nodiscard]] bool watch_inputs() const override { return false; }
  [[nodiscard]] bool always_flush() const override { return false; }
  [[nodiscard]] bool room_for_decoy(std::size_t /*set_bytes*/) const override { return true; }

  [[nodiscard]] Result<std::unique_ptr<SetMemory>> lay_out(const Task& task,
                                                           const BufferPlan& plan) override {
    return make_host_memory(task, plan, cache_bytes_, drawer_);
  }

  [[nodiscard]] RunnerSettings runner(const JudgeSettings& settings, const std::string& library,
                                      bool may_link, std::size_t buffer_bytes) const override {
    RunnerSettings out;
    out.jail = settings.jail;
    out.program = settings.runner;
    out.threads = settings.threads;
    out.stop = settings.stop;
    out.policy.read = runtime_libraries();
    out.policy.read.push_back(library);
    if (may_link) {
      for (const char* folder :
           {"/usr/lib", "/lib", "/lib64", "/etc/alternatives", "/sys", "/proc"}) {
        out.policy.read.push_back(std::filesystem::weakly_canonical(folder).string());
      }
    }
    out.policy.landlock = settings.landlock;
    out.policy.heap_bytes = memory_limit(settings, buffer_bytes);
    out.policy.memory_bytes = out.policy.heap_bytes + most_workspace_bytes();
    return out;
  }

  [[nodiscard]] std::optional<RunnerSettings> tracing_runner(
      const JudgeSettings& /*settings*/, const std::string& /*library*/, bool /*may_link*/,
      std::size_t /*buffer_bytes*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> disturbances() const override { return {}; }
  [[nodiscard]] std::string null_source() const override {
    // It reads what it is given, as far as caches reach: handing over takes longer when they hold
    // none of our code.
    return R"(#include "kernelpro/candidate.h"
extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t count) {
  int64_t left = 8 << 20;
  for (int32_t i = 0; i < count && left > 0; ++i) {
    int64_t bytes = tensors[i].dtype.bits / 8;
    for (int32_t axis = 0; axis < tensors[i].rank; ++axis) {
      bytes *= tensors[i].shape[axis];
    }
    bytes = bytes < left ? bytes : left;
    left -= bytes;
    for (int64_t at = 0; at < bytes; at += 64) {
      (void)static_cast<const volatile char*>(tensors[i].data)[at];
    }
  }
  return 0;
}
)";
  }
  [[nodiscard]] std::string default_compiler() const override { return ""; }
  [[nodiscard]] double least_noise() const override { return 0.005; }
  [[nodiscard]] double hand_over_doubt_ns() const override { return 0; }
  [[nodiscard]] bool enqueues() const override { return false; }

  [[nodiscard]] Result<EnergyMeter*> energy_meter() override {
    if (!meter_) {
      KP_LET(meter_, open_rapl(powercap_folder()));
    }
    return meter_.get();
  }

 private:
  std::int64_t cache_bytes_;
  OracleLimits limits_;
  std::unique_ptr<EnergyMeter> meter_;  // opened when it is first asked for
};

}  // namespace

std::unique_ptr<Ground> make_host_ground(std::int64_t cache_bytes, Ground::OracleLimits limits) {
  return std::make_unique<HostGround>(cache_bytes, limits);
}

}  // namespace kernelpro
