// Multiprocessors without work: fewer blocks than fit, a last wave that is nearly empty, or blocks
// of unequal length.
//
// Measured by how long each multiprocessor was active, less what differs among equal blocks, too,
// and less what a full memory would not give faster to more of them. A last wave counts only as far
// as the achieved occupancy confirms it, and as far as blocks do not run faster for being fewer: in
// a long kernel they end at different times and no wave is seen. Nor does better balance help where
// all share a full roof.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

double blocks_of(const KernelProfile& kernel) {
  double blocks = 1;
  for (const std::int64_t extent : kernel.grid) {
    blocks *= static_cast<double>(std::max<std::int64_t>(1, extent));
  }
  return blocks;
}

double multiprocessors_of(const Profile& profile) {
  return profile.limit("multiprocessors").value_or(0);
}

struct Idle {
  double unequal = 0;  // share of the time that a multiprocessor waits for the busiest one
  double tail = 0;     // share that the last wave's empty places take
  double empty = 0;    // share that would go if the grid filled the multiprocessors
};

// Multiprocessors that work on while others are done have a full memory for themselves.
double unequal_share(double mean, double most, const Roofs& loads, const Thresholds& limits) {
  const double raw = most > 0 ? std::clamp(1 - mean / most, 0.0, 1.0) : 0;
  const double memory = std::max(loads.dram, loads.l2);
  const double unused = memory >= limits.full_roof ? std::max(0.0, 1 - memory) : 1;
  return raw > limits.equal_blocks ? raw * unused : 0;
}

struct Cause {
  std::string title;
  std::string cause;
  std::vector<std::string> moves;
};

Cause too_few(double blocks, double multiprocessors) {
  return {
      fmt::format("{:.0f} blocks for {:.0f} multiprocessors", blocks, multiprocessors),
      "The grid is smaller than the GPU: multiprocessors have no block at all.",
      {"split the work into more blocks: smaller tiles, or a loop's range over blocks (split-K)",
       "use smaller blocks", "run independent kernels beside it on other streams", "split_work",
       "stream_k"}};
}

Cause too_few_a_multiprocessor(double waves) {
  return {
      fmt::format("The grid fills {:.0f} % of the places for blocks", 100 * waves),
      "A multiprocessor could hold more blocks than the grid has for it, and the warps that are "
      "there wait.",
      {"split the work into more blocks: smaller tiles, or a loop's range over blocks (split-K)",
       "let each thread do less", "split_work", "stream_k"}};
}

Cause nearly_empty_wave(double waves) {
  return {fmt::format("The blocks need {:.2f} waves, the last of them is nearly empty", waves),
          "A few blocks run on when all others are done, and most of the GPU waits for them.",
          {"choose tile and block sizes so that the last wave is full", "tune",
           "launch as many blocks as fit and let each take work until none is left",
           "persistent_blocks"}};
}

Cause unequal_blocks(double most_over_mean) {
  return {fmt::format("The busiest multiprocessor works {:.1f} times as long as the average",
                      most_over_mean),
          "Blocks are of unequal length, and the GPU waits for the longest.",
          {"split long rows over several blocks",
           "launch as many blocks as fit and let each take work until none is left",
           "give the longest pieces out first", "persistent_blocks"}};
}

ToolResult finding_of(const Cause& cause, double idle, const Gain& gain, std::string derivation,
                      const Evidence& evidence) {
  Finding finding;
  finding.tool = "block_shortage";
  finding.observed = idle;
  finding.threshold = 1 - 1 / evidence.limits().least_kernel_gain;
  finding.unit = "of the multiprocessors' time without work";
  finding.title = cause.title;
  finding.why = "less is what the start and end of any kernel cost";
  finding.cause = cause.cause;
  finding.moves = cause.moves;
  finding.derivation = std::move(derivation);
  finding.places = top_stalled_places(evidence.kernel(), {"long_scoreboard", "wait", "selected"});
  return finding_if_worth(std::move(finding), gain, evidence);
}

// By the grid alone, when the counters were denied.
ToolResult look_at_grid(const Profile& profile, Evidence& evidence, const KernelProfile& kernel) {
  const Thresholds& limits = evidence.limits();
  const double multiprocessors = multiprocessors_of(profile);
  const double blocks = blocks_of(kernel);
  Evidence grid(profile, &kernel, limits);
  ToolResult result = evidence.lacking();
  if (multiprocessors <= 0 || blocks > limits.few_blocks * multiprocessors) {
    return result;
  }
  const double saved =
      (1 - blocks / multiprocessors) * scalable_part(kernel.duration_ns, 1, limits);
  ToolResult found =
      finding_of(too_few(blocks, multiprocessors), saved, gain_of_time(saved, {}, {}),
                 "by the grid alone, without counters", grid);
  result.findings = std::move(found.findings);
  return result;
}

// Loads while there is work.
Idle idle_of(Evidence& evidence, double waves, const Roofs& loads) {
  const Thresholds& limits = evidence.limits();
  const double load = fullest_after(loads, {}).load;
  const double latency = evidence.stalled({"long_scoreboard", "short_scoreboard", "wait"});
  const double mean = evidence.figure(figure::sm_active_mean);
  const double most = evidence.figure(figure::sm_active_most);
  const double occupancy = evidence.figure(figure::occupancy);
  const double possible = evidence.figure(figure::theoretical_occupancy);
  Idle idle;
  idle.unequal = unequal_share(mean, most, loads, limits);
  const double unfilled = possible > 0 ? std::clamp(1 - occupancy / possible, 0.0, 1.0) : 0;
  if (waves > 1) {
    idle.tail = std::min(1 - waves / std::ceil(waves), unfilled) * (1 - load);
  } else if (evidence.complete() && occupancy < limits.enough_occupancy &&
             !is_matrix_pipeline(evidence.kernel())) {
    idle.empty = std::min(latency * std::min(unfilled, 1 - waves),
                          1 - std::min(1.0, load / limits.hidden_reach));
  }
  return idle;
}

Cause cause_of(const Idle& idle, double blocks, double multiprocessors, double waves) {
  if (multiprocessors > 0 && blocks < multiprocessors) {
    return too_few(blocks, multiprocessors);
  }
  if (idle.unequal >= idle.tail && idle.unequal >= idle.empty) {
    return unequal_blocks(1 / std::max(0.01, 1 - idle.unequal));
  }
  return idle.tail > idle.empty ? nearly_empty_wave(waves) : too_few_a_multiprocessor(waves);
}

ToolResult look_for_block_shortage(const Profile& profile, const KernelProfile* kernel,
                                   const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double waves = evidence.figure(figure::waves);
  const double duration = evidence.figure(figure::duration_ns);
  const Idle idle = idle_of(evidence, waves, loads);
  if (!evidence.complete()) {
    return kernel != nullptr && !profile.counters.empty() ? look_at_grid(profile, evidence, *kernel)
                                                          : evidence.lacking();
  }
  const double part = 1 - (1 - idle.unequal) * (1 - std::max(idle.tail, idle.empty));
  const double saved = part * scalable_part(duration, active_share(*kernel).most, limits);
  const Cause cause = cause_of(idle, blocks_of(*kernel), multiprocessors_of(profile), waves);
  return finding_of(
      cause, part, gain_of_time(saved, balanced_roofs_of(profile, *kernel, limits), {}),
      fmt::format(
          "{:.2f} waves; multiprocessors wait {:.0f} % of the time for the busiest, the last "
          "wave costs {:.0f} %, places without a block {:.0f} %; {:.0f} ns of the kernel's "
          "{:.0f} are its start and end",
          waves, 100 * idle.unequal, 100 * idle.tail, 100 * idle.empty, limits.fixed_kernel_ns,
          duration),
      evidence);
}

}  // namespace

Tool block_shortage_tool() {
  // Tail by name, latency by look; a roof that counts the busy multiprocessors alone can hide it.
  return {"block_shortage",
          "Too few blocks, tail, imbalance",
          {KernelClass::tail, KernelClass::latency, KernelClass::alu, KernelClass::l1,
           KernelClass::l2, KernelClass::dram, KernelClass::tensor},
          roof_figures_and({figure::waves, figure::sm_active_mean, figure::sm_active_most,
                            figure::occupancy, figure::theoretical_occupancy}),
          look_for_block_shortage};
}

}  // namespace kernelpro
