// Windows between two steps of an energy counter, while one thing runs.
//
// A counter that moves every tenth of a second says nothing between its steps. So a window begins
// and ends at a step; what runs began before it and goes on until after it, and its power between
// the two, times the mean time of a call, is the energy of a call.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/model/energy.hpp"
#include "worker/judge/energy_meter.hpp"

namespace kernelpro {

struct WindowRules {
  double settle_seconds = 0.5;    // it has run for so long before the first step that counts
  double least_seconds = 2;       // from that step to the last
  int least_steps = 20;           // likewise
  double standstill_seconds = 2;  // a counter that has not moved for so long does not work
};

// The moment at which a counter was seen to have moved, and what it said.
struct CounterStep {
  std::int64_t at_ns = 0;
  double joules = 0;
};

// Follows a counter from its making on. An interface, so that tests can bring a counter and a clock
// of their own.
class CounterWatch {
 public:
  virtual ~CounterWatch() = default;
  // All steps so far; an error when the counter cannot be read any more.
  [[nodiscard]] virtual Result<std::vector<CounterStep>> steps() = 0;
};

// Reads the meter in a thread of its own, so that steps are seen while calls run.
class MeterWatch : public CounterWatch {
 public:
  explicit MeterWatch(EnergyMeter& meter);
  [[nodiscard]] Result<std::vector<CounterStep>> steps() override;

 private:
  void follow(const std::stop_token& stop);

  EnergyMeter& meter_;
  std::mutex mutex_;
  std::vector<CounterStep> steps_;
  std::optional<Error> error_;
  std::jthread thread_;  // the last member: it uses the others
};

// The window in `steps` of something that runs since `from_ns`; nothing while it is not complete.
// Its calls are not known here.
[[nodiscard]] std::optional<EnergyWindow> find_window(const std::vector<CounterStep>& steps,
                                                      std::int64_t from_ns,
                                                      const WindowRules& rules);

// Runs one batch after the other until a window is complete. `batch` says how many calls it made;
// its error ends the window. `clock` in nanoseconds, the same as that of the steps. An environment
// error when the counter stands still.
[[nodiscard]] Result<EnergyWindow> measure_window(
    CounterWatch& watch, const WindowRules& rules, const std::function<std::int64_t()>& clock,
    const std::function<Result<std::int64_t>()>& batch);

}  // namespace kernelpro
