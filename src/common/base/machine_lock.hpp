// One timing at a time on a device, across all processes and users of the machine.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro {

// How long to wait for the lock: KERNELPRO_LOCK_TIMEOUT_MS, for scripts that would rather give up
// early, else two minutes.
[[nodiscard]] std::int64_t machine_lock_timeout_ms();

enum class LockMode {
  build,   // shared: builds may run beside each other
  timing,  // exclusive: nobody builds, nobody times
};

// A kernel file lock (flock), so the lock of a dead process is gone with it. The holder writes its
// process id into the file, for messages only.
class MachineLock {
 public:
  // `device` is "cpu" or "gpu-<uuid>". Waits up to `timeout_ms`; then the error (`busy`) names the
  // holder.
  [[nodiscard]] static Result<MachineLock> acquire(const std::string& device, LockMode mode,
                                                   std::int64_t timeout_ms,
                                                   std::stop_token stop = {});

  // Where the lock file of `device` is (KERNELPRO_LOCK_DIR or the system's temporary folder).
  [[nodiscard]] static std::string path(const std::string& device);

 private:
  explicit MachineLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// "kernelpro optimize gemm": what started that worker, for messages; empty where that cannot be
// told.
[[nodiscard]] std::string command_behind(std::int64_t worker);

}  // namespace kernelpro
