#include "worker/judge/energy_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "common/base/clock.hpp"

namespace kernelpro {

namespace {

constexpr double ns_per_second = 1e9;

double seconds_between(std::int64_t from_ns, std::int64_t until_ns) {
  return static_cast<double>(until_ns - from_ns) / ns_per_second;
}

}  // namespace

MeterWatch::MeterWatch(EnergyMeter& meter)
    : meter_(meter), thread_([this](const std::stop_token& stop) { follow(stop); }) {}

Result<std::vector<CounterStep>> MeterWatch::steps() {
  const std::lock_guard lock(mutex_);
  if (error_) {
    return *error_;
  }
  return steps_;
}

// What it says first is no step: nobody saw it come.
void MeterWatch::follow(const std::stop_token& stop) {
  std::optional<double> last;
  while (!stop.stop_requested()) {
    const Result<double> joules = meter_.joules();
    const std::int64_t now = now_ns();
    const bool fell = joules && last && *joules < *last;
    if (!joules || fell) {
      const std::lock_guard lock(mutex_);
      error_ = fell ? make_error(ErrorKind::environment, "the energy counter began anew")
                    : joules.error();
      return;
    }
    if (last && *joules != *last) {
      const std::lock_guard lock(mutex_);
      steps_.push_back({now, *joules});
    }
    last = *joules;
    std::this_thread::sleep_for(std::chrono::nanoseconds(meter_.poll_ns()));
  }
}

std::optional<EnergyWindow> find_window(const std::vector<CounterStep>& steps, std::int64_t from_ns,
                                        const WindowRules& rules) {
  const auto first = std::find_if(steps.begin(), steps.end(), [&](const CounterStep& step) {
    return seconds_between(from_ns, step.at_ns) >= rules.settle_seconds;
  });
  const auto last = std::find_if(first, steps.end(), [&](const CounterStep& step) {
    return seconds_between(first->at_ns, step.at_ns) >= rules.least_seconds &&
           &step - &*first >= rules.least_steps;
  });
  if (last == steps.end()) {
    return std::nullopt;
  }
  EnergyWindow window;
  window.joules = last->joules - first->joules;
  window.seconds = seconds_between(first->at_ns, last->at_ns);
  window.steps = static_cast<int>(last - first);
  return window;
}

Result<EnergyWindow> measure_window(CounterWatch& watch, const WindowRules& rules,
                                    const std::function<std::int64_t()>& clock,
                                    const std::function<Result<std::int64_t>()>& batch) {
  const std::int64_t start = clock();
  std::int64_t calls = 0;
  while (true) {
    const Result<std::int64_t> made = batch();
    const std::int64_t now = clock();
    const Result<std::vector<CounterStep>> steps = watch.steps();
    if (!made || !steps) {
      return made ? steps.error() : made.error();
    }
    calls += *made;
    if (std::optional<EnergyWindow> window = find_window(*steps, start, rules)) {
      window->calls = calls;
      window->call_seconds =
          calls > 0 ? seconds_between(start, now) / static_cast<double>(calls) : 0;
      return *window;
    }
    const std::int64_t moved = steps->empty() ? start : std::max(start, steps->back().at_ns);
    if (seconds_between(moved, now) > rules.standstill_seconds) {
      return make_error(ErrorKind::environment,
                        fmt::format("the energy counter has stood still for {:.1f} s",
                                    seconds_between(moved, now)));
    }
  }
}

}  // namespace kernelpro
