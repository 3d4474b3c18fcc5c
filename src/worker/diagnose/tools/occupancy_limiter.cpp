// Too few warps on a multiprocessor because of registers, shared memory, or the size of blocks,
// where the warps wait for latencies that others would hide.
//
// All limits are in blocks a multiprocessor. Low occupancy alone is no defect: with work in flight
// inside each thread, or a full roof, more warps gain nothing; and a matrix product that is fed by
// asynchronous copies spends its registers on a large tile on purpose.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

struct Limit {
  const char* key;
  const char* name;
  double blocks = 0;
};

using BlockLimits = std::array<Limit, 5>;

BlockLimits block_limits(Evidence& evidence) {
  BlockLimits all = {{{figure::limit_registers, "registers"},
                      {figure::limit_shared, "shared memory"},
                      {figure::limit_warps, "warps"},
                      {figure::limit_blocks, "blocks"},
                      {figure::limit_barriers, "barriers"}}};
  for (Limit& limit : all) {
    limit.blocks = evidence.figure(limit.key);
  }
  return all;
}

// The least of them, and what would hold once it and those equal to it are lifted.
struct Binding {
  double blocks = 0;
  double next = 0;
  std::string names;
  bool registers = false;
  bool shared = false;

  // Larger blocks cost no registers and no shared memory.
  [[nodiscard]] bool by_size_alone() const { return names == "blocks"; }
};

Binding binding_of(const BlockLimits& all) {
  Binding binding;
  binding.blocks = std::min_element(all.begin(), all.end(), [](const Limit& a, const Limit& b) {
                     return a.blocks < b.blocks;
                   })->blocks;
  binding.next = binding.blocks;
  for (const Limit& limit : all) {
    const std::string_view name = limit.name;
    if (limit.blocks == binding.blocks) {
      binding.names += (binding.names.empty() ? "" : " and ") + std::string(name);
      binding.registers = binding.registers || name == "registers";
      binding.shared = binding.shared || name == "shared memory";
    } else {
      binding.next =
          binding.next == binding.blocks ? limit.blocks : std::min(binding.next, limit.blocks);
    }
  }
  return binding;
}

std::vector<std::string> moves_for(const Binding& binding) {
  std::vector<std::string> moves;
  if (binding.registers) {
    moves = {"launch_bounds", "registers_64", "registers_128", "registers_32",
             "give each thread a smaller tile"};
  }
  if (binding.shared) {
    moves.insert(moves.end(), {"make the tile in shared memory smaller, or keep fewer stages of it",
                               "tune", "keep a part of the tile in registers"});
  }
  if (moves.empty()) {
    moves = {"choose a block size of 128 to 256 threads, of which more fit", "tune"};
  }
  moves.emplace_back("more_resident_warps");
  return moves;
}

std::string all_limits_text(const BlockLimits& all) {
  std::string text;
  for (const Limit& limit : all) {
    text += fmt::format("{}{} {:.0f}", text.empty() ? "" : ", ", limit.name, limit.blocks);
  }
  return text;
}

// Up to which occupancy warps are what is missing.
double occupancy_needed(const KernelProfile& kernel, const Binding& binding, const Roofs& loads,
                        const Thresholds& limits) {
  const bool one_by_one =
      kernel.code && hottest_loads(*kernel.code).loads <= limits.most_loads_in_flight;
  return (one_by_one || binding.by_size_alone()) && fullest_after(loads, {}).load < limits.full_roof
             ? limits.waiting_occupancy
             : limits.most_occupancy;
}

const char* reason_for(const Binding& binding, double needed, const Thresholds& limits) {
  if (needed <= limits.most_occupancy) {
    return "below a third of the warps latencies are often not hidden; they are not here";
  }
  return binding.by_size_alone()
             ? "larger blocks cost nothing, and bring warps beside those that wait"
             : "a thread that waits for each load before the next one needs others beside it";
}

ToolResult look_for_occupancy_limiter(const Profile& profile, const KernelProfile* kernel,
                                      const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double latency = evidence.stalled({"long_scoreboard", "short_scoreboard", "wait"});
  const double occupancy = evidence.figure(figure::occupancy);
  const double possible = evidence.figure(figure::theoretical_occupancy);
  const double eligible = evidence.figure(figure::eligible_warps);
  const double waves = evidence.figure(figure::waves);
  const BlockLimits all = block_limits(evidence);
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const Binding binding = binding_of(all);
  const double needed = occupancy_needed(*kernel, binding, loads, limits);
  if (binding.blocks < 1 || possible <= 0 || possible > needed || occupancy > needed ||
      eligible >= limits.most_eligible_warps || is_matrix_pipeline(*kernel)) {
    return {};
  }
  // The grid must have blocks for the room, and a multiprocessor holds 1 / possible times as many.
  const double target =
      std::min({binding.next, binding.blocks * limits.occupancy_step,
                std::max(1.0, waves) * binding.blocks, binding.blocks / possible});
  const double blamed = latency * (1 - binding.blocks / target);

  Finding finding;
  finding.tool = "occupancy_limiter";
  finding.observed = possible;
  finding.threshold = needed;
  finding.unit = "of the warps a multiprocessor can hold";
  finding.title = fmt::format("{} allow {:.0f} blocks a multiprocessor, {:.0f} % of its warps",
                              binding.names, binding.blocks, 100 * possible);
  finding.title.front() =
      static_cast<char>(std::toupper(static_cast<unsigned char>(finding.title.front())));
  finding.why = reason_for(binding, needed, limits);
  finding.cause = fmt::format("Limits in blocks: {}. The binding one is {}.", all_limits_text(all),
                              binding.names);
  finding.moves = moves_for(binding);
  finding.derivation = fmt::format(
      "{:.0f} % of samples wait for latencies, {:.2f} warps are eligible; from {:.0f} to {:.1f} "
      "blocks {:.0f} % of these waits go",
      100 * latency, eligible, binding.blocks, target, 100 * (1 - binding.blocks / target));
  finding.places =
      top_stalled_places(evidence.kernel(), {"long_scoreboard", "short_scoreboard", "wait"});
  return finding_if_worth(std::move(finding), gain_by_hiding(blamed, loads, {}, limits), evidence);
}

}  // namespace

Tool occupancy_limiter_tool() {
  // Waits that show as latency, or as a memory roof or pipe that is not quite full.
  return {
      "occupancy_limiter",
      "Occupancy limited",
      {KernelClass::latency, KernelClass::dram, KernelClass::l2, KernelClass::l1, KernelClass::alu,
       KernelClass::tensor, KernelClass::tail},
      roof_figures_and({figure::occupancy, figure::theoretical_occupancy, figure::eligible_warps,
                        figure::waves, figure::limit_registers, figure::limit_shared,
                        figure::limit_warps, figure::limit_blocks, figure::limit_barriers}),
      look_for_occupancy_limiter};
}

}  // namespace kernelpro
