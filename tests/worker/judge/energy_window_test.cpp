// Windows by a counter and a clock made for the test: what it showed at any moment is known
// exactly.
#include "worker/judge/energy_window.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t millisecond = 1'000'000;

// A clock that moves only when something runs, and a counter that shows every `step_ms` what was
// taken until then.
class ScriptedDevice : public CounterWatch {
 public:
  // Runs for a while at that power.
  void run(std::int64_t ms, double watts) {
    for (std::int64_t i = 0; i < ms; ++i) {
      now_ += millisecond;
      joules_ += watts * 1e-3;
      if (step_ms > 0 && ++since_step_ >= step_ms) {
        since_step_ = 0;
        shown_.push_back({now_ + late_ms * millisecond, joules_});
      }
    }
  }

  [[nodiscard]] Result<std::vector<CounterStep>> steps() override {
    if (fails_at_ns > 0 && now_ >= fails_at_ns) {
      return make_error(ErrorKind::environment, "the counter is gone");
    }
    return shown_;
  }

  [[nodiscard]] Result<EnergyWindow> measure(std::int64_t batch_ms, double watts,
                                             std::int64_t calls) {
    return measure_window(
        *this, rules, [this] { return now_; },
        [&, this]() -> Result<std::int64_t> {
          run(batch_ms, watts);
          return calls;
        });
  }

  WindowRules rules;
  std::int64_t step_ms = 100;
  std::int64_t late_ms = 0;
  std::int64_t fails_at_ns = 0;

 private:
  std::int64_t now_ = 0;
  std::int64_t since_step_ = 0;
  double joules_ = 0;
  std::vector<CounterStep> shown_;
};

TEST(EnergyWindow, FindsThePowerBetweenStepsHoweverLongABatchTakes) {
  for (const std::int64_t batch_ms : {7, 50, 93, 100, 330, 5000}) {
    ScriptedDevice device;
    device.run(1234, 80);  // idle before
    const Result<EnergyWindow> window = device.measure(batch_ms, 400, 10);
    ASSERT_TRUE(window) << window.error().text();
    EXPECT_NEAR(window->joules / window->seconds, 400, 1e-6) << batch_ms;
    EXPECT_GE(window->seconds, 2);
    EXPECT_NEAR(window->call_seconds, static_cast<double>(batch_ms) / 1e3 / 10, 1e-9);
    EXPECT_GT(window->calls, 0);
    EXPECT_EQ(window->calls % 10, 0);
  }
}

TEST(EnergyWindow, WhatRanBeforeIsNotPartOfIt) {
  ScriptedDevice device;
  device.run(950, 700);
  const Result<EnergyWindow> window = device.measure(50, 100, 1);
  ASSERT_TRUE(window);
  EXPECT_NEAR(window->joules / window->seconds, 100, 1e-6);
}

TEST(EnergyWindow, StepsThatAreSeenLateMoveBothEnds) {
  ScriptedDevice device;
  device.late_ms = 4;
  const Result<EnergyWindow> window = device.measure(50, 250, 1);
  ASSERT_TRUE(window);
  EXPECT_NEAR(window->joules / window->seconds, 250, 1e-6);
}

TEST(EnergyWindow, NeedsItsSecondsAndItsSteps) {
  ScriptedDevice slow;
  slow.step_ms = 400;  // 20 steps take 8 s
  const Result<EnergyWindow> many = slow.measure(50, 300, 1);
  ASSERT_TRUE(many);
  EXPECT_NEAR(many->seconds, 8, 1e-9);
  ScriptedDevice fast;
  fast.step_ms = 1;  // 20 steps take 20 ms
  const Result<EnergyWindow> longer = fast.measure(50, 300, 1);
  ASSERT_TRUE(longer);
  EXPECT_NEAR(longer->seconds, 2, 1e-9);
}

TEST(EnergyWindow, IsNotCompleteBeforeItsLastStep) {
  WindowRules rules;
  rules.settle_seconds = 0.25;
  rules.least_seconds = 1;
  rules.least_steps = 5;
  std::vector<CounterStep> steps;
  for (int i = 0; i <= 12; ++i) {
    steps.push_back({i * 100 * millisecond, 10.0 * i});
  }
  EXPECT_FALSE(find_window({}, 0, rules));
  EXPECT_FALSE(find_window(steps, 0, rules)) << "the first that counts is at 0.3 s";
  steps.push_back({1300 * millisecond, 130});
  const std::optional<EnergyWindow> window = find_window(steps, 0, rules);
  ASSERT_TRUE(window);
  EXPECT_DOUBLE_EQ(window->joules, 100);
  EXPECT_DOUBLE_EQ(window->seconds, 1);
  EXPECT_EQ(window->steps, 10);
  EXPECT_FALSE(find_window(steps, 2000 * millisecond, rules)) << "all of them came before";
}

TEST(EnergyWindow, ACounterThatStandsStillIsAnErrorAfterItsTime) {
  ScriptedDevice never;
  never.step_ms = 0;
  const Result<EnergyWindow> none = never.measure(50, 300, 1);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::environment);
  EXPECT_THAT(none.error().text(), HasSubstr("stood still for 2.0"));
  ScriptedDevice stops;
  std::int64_t ran = 0;
  const Result<EnergyWindow> half = measure_window(
      stops, stops.rules, [&] { return ran * millisecond; },
      [&]() -> Result<std::int64_t> {
        stops.step_ms = ran >= 1000 ? 0 : 100;
        stops.run(50, 300);
        ran += 50;
        return 1;
      });
  ASSERT_FALSE(half);
  EXPECT_THAT(half.error().text(), HasSubstr("stood still"));
}

TEST(EnergyWindow, ErrorsOfTheCounterAndOfTheBatchEndIt) {
  ScriptedDevice device;
  device.fails_at_ns = 700 * millisecond;
  const Result<EnergyWindow> gone = device.measure(50, 300, 1);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, "the counter is gone");
  ScriptedDevice other;
  const Result<EnergyWindow> crashed = measure_window(
      other, other.rules, [] { return std::int64_t{0}; },
      []() -> Result<std::int64_t> { return make_error(ErrorKind::lost, "it crashed"); });
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().message, "it crashed");
}

// A meter that says something new every third time it is asked.
class CountingMeter : public EnergyMeter {
 public:
  [[nodiscard]] std::string name() const override { return "counting"; }
  [[nodiscard]] Result<double> joules() override {
    const int asked = asked_++;
    if (asked >= fails_after) {
      return make_error(ErrorKind::environment, "the counter is gone");
    }
    return asked >= falls_after ? 0.0 : std::floor(asked / 3.0) + 1;
  }
  [[nodiscard]] std::int64_t poll_ns() const override { return 10'000; }
  [[nodiscard]] std::map<std::string, double> circumstances() override { return {}; }

  int fails_after = 1 << 30;
  int falls_after = 1 << 30;

 private:
  std::atomic<int> asked_ = 0;
};

// All steps there are after waiting for `count` of them, or the error that came instead.
Result<std::vector<CounterStep>> wait_for_steps(CounterWatch& watch, std::size_t count) {
  while (true) {
    Result<std::vector<CounterStep>> steps = watch.steps();
    if (!steps || steps->size() >= count) {
      return steps;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(MeterWatch, SeesEveryStepOnceAndNotWhatWasThereBefore) {
  CountingMeter meter;
  MeterWatch watch(meter);
  const Result<std::vector<CounterStep>> steps = wait_for_steps(watch, 5);
  ASSERT_TRUE(steps) << steps.error().text();
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ((*steps)[i].joules, static_cast<double>(i + 2));
    EXPECT_TRUE(i == 0 || (*steps)[i].at_ns > (*steps)[i - 1].at_ns);
  }
}

TEST(MeterWatch, SaysWhenTheMeterFailsOrBeginsAnew) {
  CountingMeter failing;
  failing.fails_after = 10;
  MeterWatch first(failing);
  const Result<std::vector<CounterStep>> failed = wait_for_steps(first, 100);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the counter is gone");
  CountingMeter falling;
  falling.falls_after = 10;
  MeterWatch second(falling);
  const Result<std::vector<CounterStep>> fell = wait_for_steps(second, 100);
  ASSERT_FALSE(fell);
  EXPECT_THAT(fell.error().message, HasSubstr("began anew"));
}

}  // namespace
}  // namespace kernelpro
