// The energy of candidate and incumbent at one timed shape.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "worker/judge/energy_window.hpp"
#include "worker/judge/rounds.hpp"

namespace kernelpro {

struct EnergyInputs {
  const Task& task;
  EnergyMeter& meter;
  const JudgeSettings& settings;
  Arm& candidate;
  Arm& incumbent;
  const ShapeTiming& timing;     // of the same evaluation: what a call takes
  std::int64_t cache_bytes = 0;  // the last-level cache
  Key key;
  std::vector<double> bounds;  // by output: within how much two right outputs agree
  std::function<void(const std::string&)> say;
  std::stop_token stop;
};

struct EnergyOutcome {
  std::optional<Failure> failure;  // the candidate's
  ShapeEnergy energy;
  std::map<std::string, double> circumstances;  // under load
  std::vector<std::string> remarks;             // what to know before trusting it
  std::vector<std::string> suspicions;          // of the candidate
};

// Five windows of each arm in mirrored order, idle windows before and after. Every window has fresh
// inputs, and begins with a pair of checked rounds; its calls then go round the same sets, so
// caches are as warm as these sets allow. An error is ours: the counter or the incumbent failed.
[[nodiscard]] Result<EnergyOutcome> measure_energy(const EnergyInputs& in, Rounds& rounds);

// The sets of one batch: `called` again and again, from the `next`th on, for about `batch_ns`.
// `next` moves on.
[[nodiscard]] std::vector<std::uint16_t> batch_sets(const std::vector<std::uint16_t>& called,
                                                    double call_ns, double batch_ns,
                                                    std::size_t& next);

// Fills in everything that follows from the windows.
void summarize_energy(const Task& task, const Axes& axes, std::uint64_t seed, ShapeEnergy& energy);

// All shapes together.
void combine_energy(Energy& energy);

}  // namespace kernelpro
