// A processor's energy counter in a folder of the test's own, moved on by a thread: 50 W.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"

namespace kernelpro::testing {

class EnergyCounter {
 public:
  EnergyCounter() {
    std::filesystem::create_directories(domain());
    std::ofstream(domain() / "name") << "package-0\n";
    std::ofstream(domain() / "max_energy_range_uj") << "262143328850\n";
    tick();
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        tick();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }

  // What KERNELPRO_POWERCAP is to name.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_->path(); }

  void stand_still() { thread_ = {}; }

 private:
  [[nodiscard]] std::filesystem::path domain() const { return folder() / "intel-rapl:0"; }

  void tick() const {
    const std::filesystem::path fresh = domain() / "fresh";
    std::ofstream(fresh) << (now_ns() - start_) / 20 << "\n";  // microjoules
    std::filesystem::rename(fresh, domain() / "energy_uj");
  }

  Result<ScratchDir> folder_ = ScratchDir::create("energy-counter");
  std::int64_t start_ = now_ns();
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace kernelpro::testing
