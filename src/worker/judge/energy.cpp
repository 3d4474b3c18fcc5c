#include "worker/judge/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "common/base/clock.hpp"
#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/statistics.hpp"

namespace kernelpro {

namespace {

// Long, because nothing runs between two batches.
constexpr double full_batch_ns = 100e6;
// What checking outputs may take of the time, since it takes energy too.
constexpr double checking_share = 0.005;
constexpr double rate_doubt = 0.05;
// Calls on sets that no cache can hold cannot be so much quicker than timed calls.
constexpr double quicker_than_honest = 0.15;
constexpr std::chrono::milliseconds idle_batch(50);

const char* name_of_side(Side side) {
  return side == Side::candidate ? "candidate" : "incumbent";
}

Error ours_failed(const Failure& failure) {
  return make_error(ErrorKind::lost, failure.summary,
                    "the incumbent, while its energy was measured");
}

class EnergyRun {
 public:
  EnergyRun(const EnergyInputs& in, Rounds& rounds)
      : in_(in), rounds_(rounds), random_(key(energy_sample_purpose, 0)) {
    out_.energy.shape = in.timing.shape;
  }

  [[nodiscard]] Result<EnergyOutcome> run() {
    rounds_.redraw_scalars(key(energy_scalars_purpose, 0));
    KP_TRY(attach_arms());
    if (out_.failure) {
      return std::move(out_);
    }
    const int windows = in_.settings.energy_windows;
    KP_TRY(idle());
    for (int i = 0; i < 2 * windows && !out_.failure; ++i) {
      // c i | i c | c i …
      const Side arm = (i % 4 == 0 || i % 4 == 3) ? Side::candidate : Side::incumbent;
      in_.say(fmt::format("energy, window {} of {}", i + 1, 2 * windows));
      KP_TRY(window(arm, i));
    }
    if (out_.failure) {
      return std::move(out_);
    }
    KP_TRY(idle());
    summarize_energy(in_.task, rounds_.shape().axes, short_key(key(energy_bootstrap_purpose, 0)),
                     out_.energy);
    doubt_rates();
    return std::move(out_);
  }

 private:
  [[nodiscard]] Key key(Purpose purpose, int index) const {
    return derive(in_.key, purpose, static_cast<std::uint64_t>(index));
  }

  [[nodiscard]] Arm& arm_of(Side arm) const {
    return arm == Side::candidate ? in_.candidate : in_.incumbent;
  }
  [[nodiscard]] double call_ns(Side arm) const {
    return arm == Side::candidate ? in_.timing.candidate_ns : in_.timing.incumbent_ns;
  }
  [[nodiscard]] ArmEnergy& energy_of(Side arm) {
    return arm == Side::candidate ? out_.energy.candidate : out_.energy.incumbent;
  }

  [[nodiscard]] std::int64_t timeout_ms() const {
    constexpr double patience = 20;
    const double slower_ns = std::max(in_.timing.candidate_ns, in_.timing.incumbent_ns);
    const double batch_ms = std::max(full_batch_ns, slower_ns) / 1e6;
    return std::max(in_.settings.call_timeout_ms, static_cast<std::int64_t>(patience * batch_ms));
  }

  // Charges the failure to the arm it belongs to.
  [[nodiscard]] Status charge(Side arm, const Failure& failure) {
    if (arm == Side::incumbent) {
      return ours_failed(failure);
    }
    out_.failure = failure;
    return {};
  }

  [[nodiscard]] Status attach_arms() {
    const ShapeBuffers& buffers = rounds_.buffers();
    for (const Side arm : both_sides) {
      if (const auto failure =
              arm_of(arm).attach(buffers.plan(), *buffers.memory, arm, timeout_ms())) {
        KP_TRY(charge(arm, *failure));
      }
    }
    return {};
  }

  [[nodiscard]] Status stopped() const {
    return in_.stop.stop_requested()
               ? Status(make_error(ErrorKind::interrupted, "the evaluation was interrupted"))
               : Status();
  }

  // Contexts alive, nothing running.
  [[nodiscard]] Status idle() {
    in_.say("energy, idle");
    MeterWatch watch(in_.meter);
    KP_LET(const EnergyWindow measured, measure_window(watch, in_.settings.energy_rules, now_ns,
                                                       [this]() -> Result<std::int64_t> {
                                                         KP_TRY(stopped());
                                                         std::this_thread::sleep_for(idle_batch);
                                                         return 0;
                                                       }));
    out_.energy.idle.push_back(measured);
    return {};
  }

  [[nodiscard]] Status window(Side arm, int index) {
    KP_TRY(checked_pair(index));
    if (out_.failure) {
      return {};
    }
    checking_ns_ = 0;
    running_ns_ = 0;
    Result<EnergyWindow> measured = [&] {
      MeterWatch watch(in_.meter);
      return measure_window(watch, in_.settings.energy_rules, now_ns,
                            [this, arm] { return batch(arm); });
    }();
    if (out_.failure) {
      return {};
    }
    if (!measured) {
      return measured.error();
    }
    if (arm == Side::candidate && out_.circumstances.empty()) {
      out_.circumstances = in_.meter.circumstances();
    }
    energy_of(arm).windows.push_back(*measured);
    return check_last(arm);
  }

  // One pair of rounds on fresh inputs, as when timing: what both arms wrote is kept, and they
  // agree. The candidate goes first: an incumbent that does so has no inputs any more afterwards.
  [[nodiscard]] Status checked_pair(int index) {
    const std::array<Arm*, 2> arms = {&in_.candidate, &in_.incumbent};
    const Pair pair = rounds_.run(arms, Side::candidate, key(energy_pair_purpose, index),
                                  rounds_.shape().calls, in_.bounds, timeout_ms());
    KP_TRY(rounds_.buffers().memory->health());
    for (const Side one : both_sides) {
      if (const auto& failure = pair.of(one).failure) {
        return charge(one, *failure);
      }
    }
    called_ = pair.called;
    next_ = 0;
    disagreed_ += static_cast<int>(pair.disagreeing.size());
    return {};
  }

  // One batch into poisoned outputs, so that each batch has to write them; now and then a secret
  // one of its sets is looked at afterwards.
  [[nodiscard]] Result<std::int64_t> batch(Side arm) {
    KP_TRY(stopped());
    const std::vector<std::uint16_t> sets = batch_sets(called_, call_ns(arm), full_batch_ns, next_);
    const std::vector<std::uint16_t> looked_at = {sets[random_.below(sets.size())]};
    const bool looking = checking_ns_ <= checking_share * running_ns_;
    rounds_.buffers().memory->poison_outputs(arm);
    const std::int64_t poisoned = now_ns();
    KP_TRY(run_batch(arm, sets));
    const std::int64_t ran = now_ns();
    if (looking) {
      KP_TRY(check_outputs(arm, looked_at));
      checking_ns_ += static_cast<double>(now_ns() - ran);
    }
    running_ns_ += static_cast<double>(ran - poisoned);
    return static_cast<std::int64_t>(sets.size());
  }

  // An error also when it is the candidate's failure: the window ends there.
  [[nodiscard]] Status run_batch(Side arm, const std::vector<std::uint16_t>& sets) {
    const Round round = arm_of(arm).repeat(sets, timeout_ms());
    KP_TRY(rounds_.buffers().memory->health());
    return round.failure ? end_with(arm, *round.failure) : Status();
  }

  [[nodiscard]] Status check_outputs(Side arm, const std::vector<std::uint16_t>& sets) {
    SetMemory& memory = *rounds_.buffers().memory;
    memory.take(arm, sets);
    if (memory.disagreeing(sets, in_.bounds).empty()) {
      return memory.health();
    }
    return end_with(arm, Failure{Outcome::incorrect,
                                 "energy",
                                 "it wrote other outputs while its energy was measured",
                                 {"the same inputs had been right in a timed round before"}});
  }

  [[nodiscard]] Status end_with(Side arm, const Failure& failure) {
    KP_TRY(charge(arm, failure));
    return make_error(ErrorKind::lost, failure.summary, "the candidate");
  }

  // After the window, where it costs nothing: one batch more, with all its sets checked.
  [[nodiscard]] Status check_last(Side arm) {
    SetMemory& memory = *rounds_.buffers().memory;
    memory.poison_outputs(arm);
    std::vector<std::uint16_t> sets = batch_sets(called_, call_ns(arm), full_batch_ns, next_);
    Status checked = run_batch(arm, sets);
    std::sort(sets.begin(), sets.end());
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    if (checked) {
      checked = check_outputs(arm, sets);
    }
    if (out_.failure || !checked) {
      return out_.failure ? Status() : checked;
    }
    if (const auto failure = check_memory(rounds_.buffers(), arm, sets)) {
      return charge(arm, *failure);
    }
    if (!memory.inputs_intact(arm)) {
      return charge(
          arm, Failure{Outcome::cheated, "input_write", "the inputs changed while it ran", {}});
    }
    return memory.health();
  }

  // Whether the sets of a batch leave the cache by themselves.
  [[nodiscard]] bool exceeds_cache() const {
    const double bytes =
        static_cast<double>(rounds_.buffers().plan().set_bytes) * rounds_.shape().calls;
    return bytes >= 2 * static_cast<double>(in_.cache_bytes);
  }

  void doubt_rates() {
    for (const Side arm : both_sides) {
      const double timed_ns = call_ns(arm);
      const double off = timed_ns > 0 ? energy_of(arm).call_ns / timed_ns - 1 : 0;
      if (off > rate_doubt) {
        out_.remarks.push_back(fmt::format(
            "the {}'s calls took {:.0f} % longer than when timed: pauses between batches, or a "
            "lower clock, are part of its energy",
            name_of_side(arm), 100 * off));
      } else if (arm == Side::candidate && off < -quicker_than_honest && exceeds_cache()) {
        out_.suspicions.push_back(fmt::format(
            "its calls took {:.0f} % less time while its energy was measured than when timed, on "
            "inputs and outputs that stay the same",
            -100 * off));
      } else if (off < -rate_doubt) {
        out_.remarks.push_back(fmt::format(
            "the {}'s calls took {:.0f} % less time than when timed: caches are warm here, or it "
            "left work out",
            name_of_side(arm), -100 * off));
      }
    }
    if (disagreed_ > 0) {
      out_.remarks.push_back(fmt::format(
          "the arms' outputs differed on {} buffer sets in the rounds before windows", disagreed_));
    }
  }

  const EnergyInputs& in_;
  Rounds& rounds_;
  EnergyOutcome out_;
  KeyedRandom random_;
  std::vector<std::uint16_t> called_;  // in the pair before the window
  std::size_t next_ = 0;               // of these, in the next batch
  int disagreed_ = 0;
  double checking_ns_ = 0;
  double running_ns_ = 0;
};

double watts(const EnergyWindow& window) {
  return window.seconds > 0 ? window.joules / window.seconds : 0;
}

double mean_watts(const std::vector<EnergyWindow>& windows) {
  double joules = 0;
  double seconds = 0;
  for (const EnergyWindow& window : windows) {
    joules += window.joules;
    seconds += window.seconds;
  }
  return seconds > 0 ? joules / seconds : 0;
}

// Joules of a call in each window, beyond what `idle_watts` would have taken meanwhile.
std::vector<double> joules_of_calls(const ArmEnergy& arm, double idle_watts) {
  std::vector<double> out;
  out.reserve(arm.windows.size());
  for (const EnergyWindow& window : arm.windows) {
    out.push_back((watts(window) - idle_watts) * window.call_seconds);
  }
  return out;
}

double per_unit(double joules, const Formula& work, const Axes& axes) {
  const Result<double> amount = work.evaluate(axes);
  return amount && *amount > 0 ? joules / *amount : 0;
}

void summarize_arm(const Task& task, const Axes& axes, std::uint64_t seed, double idle_watts,
                   ArmEnergy& arm) {
  const std::vector<double> gross = joules_of_calls(arm, 0);
  const std::vector<double> net = joules_of_calls(arm, idle_watts);
  arm.joules = median(gross);
  arm.joules_interval = bootstrap_median(gross, seed);
  arm.net_joules = median(net);
  arm.net_interval = bootstrap_median(net, seed);
  arm.watts = mean_watts(arm.windows);
  std::vector<double> times;
  times.reserve(arm.windows.size());
  for (const EnergyWindow& window : arm.windows) {
    times.push_back(1e9 * window.call_seconds);
  }
  arm.call_ns = median(times);
  arm.joules_per_flop = per_unit(arm.joules, task.work.flops, axes);
  arm.joules_per_byte = per_unit(arm.joules, task.work.bytes, axes);
}

}  // namespace

std::vector<std::uint16_t> batch_sets(const std::vector<std::uint16_t>& called, double call_ns,
                                      double batch_ns, std::size_t& next) {
  const double wanted = std::ceil(batch_ns / std::max(call_ns, 1.0));
  const auto count =
      static_cast<std::size_t>(std::clamp(wanted, 1.0, static_cast<double>(runner::max_sets)));
  std::vector<std::uint16_t> sets(count);
  for (std::uint16_t& set : sets) {
    set = called[next];
    next = (next + 1) % called.size();
  }
  return sets;
}

void summarize_energy(const Task& task, const Axes& axes, std::uint64_t seed, ShapeEnergy& energy) {
  energy.idle_watts = mean_watts(energy.idle);
  for (ArmEnergy* arm : {&energy.candidate, &energy.incumbent}) {
    summarize_arm(task, axes, seed, energy.idle_watts, *arm);
  }
  // As for times, the ratio is of what comes second over what comes first.
  const PairedRatio gross = paired_ratio(joules_of_calls(energy.incumbent, 0),
                                         joules_of_calls(energy.candidate, 0), seed);
  const PairedRatio net = paired_ratio(joules_of_calls(energy.incumbent, energy.idle_watts),
                                       joules_of_calls(energy.candidate, energy.idle_watts), seed);
  energy.ratio = gross.ratio;
  energy.ratio_interval = gross.interval;
  energy.net_ratio = net.ratio;
  energy.net_ratio_interval = net.interval;
}

void combine_energy(Energy& energy) {
  const auto mean_of = [&energy](auto value) { return geometric_mean(energy.shapes, value); };
  energy.ratio = mean_of([](const ShapeEnergy& shape) { return shape.ratio; });
  energy.ratio_interval = {
      mean_of([](const ShapeEnergy& shape) { return shape.ratio_interval.low; }),
      mean_of([](const ShapeEnergy& shape) { return shape.ratio_interval.high; })};
  energy.comparison = compare_energy(energy.ratio_interval);
}

Result<EnergyOutcome> measure_energy(const EnergyInputs& in, Rounds& rounds) {
  return EnergyRun(in, rounds).run();
}

}  // namespace kernelpro
