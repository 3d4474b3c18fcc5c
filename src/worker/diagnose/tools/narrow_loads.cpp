// Loads of four bytes or fewer a thread where the warp reads a contiguous piece: four times as many
// instructions as needed, and a quarter of the bytes under way.
//
// Only loads whose neighbours lie side by side can be widened; broadcasts and gathers cannot. Wider
// loads move the same bytes, so a full DRAM or L2 leaves nothing to gain.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

constexpr double warp_threads = 32;
constexpr double turn_bits = 32;  // a thread's part of a full turn of L1

bool is_load(const MemoryInstruction& instruction) {
  return instruction.space == Space::global &&
         is_one_of(instruction.access, {Access::load, Access::async_copy});
}

struct Widths {
  double bytes = 0;  // that differ within a request
  double narrow_bytes = 0;
  double requests = 0;         // of all loads
  double narrow_requests = 0;  // of narrow contiguous ones
  double wide_requests = 0;    // that these would need at full width
  double same_requests = 0;    // whose threads load the same: an index, a factor of the row
  double lost_turns = 0;       // of L1, because a request fills less than one
  bool counted = true;
  Weighed places;
};

double bytes_of(const MemoryInstruction& load) {
  const double threads = load.threads.value_or(load.executed.value_or(0) * warp_threads);
  return threads * load.bits / 8;
}

double sectors_needed(const MemoryInstruction& load) {
  return bytes_of(load) / sector_bytes;
}

bool is_same_for_all(const MemoryInstruction& load, const Thresholds& limits) {
  return *load.sectors < sectors_needed(load) * (1 - limits.contiguous_slack);
}

bool is_contiguous(const MemoryInstruction& load, const Thresholds& limits) {
  // A request takes a sector at least.
  const double least = std::max(sectors_needed(load), load.executed.value_or(0));
  return *load.sectors <= least * (1 + limits.contiguous_slack) && !is_same_for_all(load, limits);
}

Widths widths_of(const CodeFacts& code, const Thresholds& limits) {
  Widths sum;
  for (const MemoryInstruction& load : code.memory) {
    if (!is_load(load) || load.executed.value_or(1) <= 0) {
      continue;
    }
    if (!load.sectors || !load.executed) {
      sum.counted = false;
      continue;
    }
    sum.bytes += std::min(bytes_of(load), *load.sectors * sector_bytes);
    sum.requests += *load.executed;
    sum.same_requests += is_same_for_all(load, limits) ? *load.executed : 0;
    if (load.bits > limits.narrow_bits || !is_contiguous(load, limits)) {
      continue;
    }
    sum.narrow_bytes += bytes_of(load);
    sum.narrow_requests += *load.executed;
    sum.wide_requests += *load.executed * load.bits / limits.wide_bits;
    sum.lost_turns += *load.executed * std::max(0.0, 1 - load.bits / turn_bits);
    sum.places.emplace_back(*load.executed, load.place);
  }
  return sum;
}

// Of the turns that warps wait for, those of narrow contiguous loads, and of what is loaded along
// with each of them: a thread that takes more elements loads that once for all of them.
double narrow_turn_share(const CodeFacts& code, const Widths& widths, const Thresholds& limits) {
  const double all = l1_turns(code, [](const MemoryInstruction& access) {
    return is_far(access) && !is_one_of(access.access, {Access::store, Access::reduction});
  });
  const double narrow = l1_turns(code, [&limits](const MemoryInstruction& access) {
    return is_load(access) && access.executed.value_or(0) > 0 &&
           access.bits <= limits.narrow_bits && is_contiguous(access, limits);
  });
  return std::min(1.0, (narrow + std::min(narrow, widths.same_requests)) / std::max(1.0, all));
}

ToolResult look_for_narrow_loads(const Profile& profile, const KernelProfile* kernel,
                                 const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double latency = evidence.stalled({"long_scoreboard"});
  const double throttled = evidence.stalled({"lg_throttle"});
  const double mean = evidence.figure(figure::sm_active_mean);
  const double most = evidence.figure(figure::sm_active_most);
  const double instructions = evidence.figure(figure::instructions);
  const CodeFacts& code = evidence.code();
  const Widths widths = widths_of(code, limits);
  if (!widths.counted) {
    evidence.missing("no sectors at the instructions");
  }
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const double narrow = widths.bytes > 0 ? widths.narrow_bytes / widths.bytes : 0;
  if (narrow < limits.narrow_share || mean < (1 - limits.most_idle) * most) {
    return {};
  }
  const double saved_requests = widths.narrow_requests - widths.wide_requests;
  // What waits for memory may also wait for local memory or atomics.
  const double others = requests(code, [](const MemoryInstruction& access) {
    return is_far(access) && !is_load(access) && access.access != Access::store;
  });
  const double all_requests = requests(
      code, [](const MemoryInstruction& access) { return access.space != Space::constant; });
  if (widths.requests < limits.global_load_share * (widths.requests + others)) {
    return {};
  }
  const double bits = limits.wide_bits * widths.wide_requests / widths.narrow_requests;
  const double narrower = 1 - bits / limits.wide_bits;
  // Several narrow loads under way at once hide latency as one wide load does.
  const double bits_in_flight = bits * std::max(1.0, hottest_loads(code).loads);
  const double slower = std::clamp(1 - bits_in_flight / limits.wide_bits, 0.0, narrower);
  const double theirs = narrow_turn_share(code, widths, limits);
  Roofs relief;
  relief.lsu = std::min(1.0, saved_requests / std::max(1.0, all_requests));
  relief.issue =
      std::min(1.0, limits.instructions_per_load * saved_requests / std::max(1.0, instructions));
  relief.l1 = std::min(
      1.0, widths.lost_turns / std::max(1.0, l1_turns(code, [](const auto&) { return true; })));
  const double blamed =
      theirs * (limits.narrow_latency_weight * slower * latency + narrower * throttled);

  Finding finding;
  finding.tool = "narrow_loads";
  finding.observed = bits;
  finding.threshold = limits.narrow_bits;
  finding.unit = "bits a thread and load";
  finding.title = fmt::format(
      "{:.0f} % of the bytes loaded come by {:.0f} bits a thread, where {:.0f} would go",
      100 * narrow, bits, limits.wide_bits);
  finding.why = "a thread can load 128 bits at once; the bytes under way hide the latency";
  finding.cause =
      "Each thread loads one small element at a time from contiguous memory: too few bytes are "
      "under way, and too many instructions move them.";
  finding.moves = {"load float4 (16 bytes) a thread where the address is aligned",
                   "let each thread take several neighbouring elements", "device_vectors",
                   "restrict_all", "vector_loads"};
  finding.derivation = fmt::format(
      "{:.0f} % of samples wait for loads and {:.0f} % for a place in the queue, {:.0f} % of that "
      "for narrow ones; with {:.0f} bits a thread under way wider ones take {:.0f} % of these "
      "waits "
      "away",
      100 * latency, 100 * throttled, 100 * theirs, bits_in_flight, 100 * slower);
  finding.places = top_places(widths.places);
  return finding_if_worth(std::move(finding), gain_by_hiding(blamed, loads, relief, limits),
                          evidence);
}

}  // namespace

Tool narrow_loads_tool() {
  // Latency where too few bytes are under way; L1 and issue slots where it is the number of
  // instructions; DRAM and L2 may look busy and still have room.
  return {"narrow_loads",
          "Narrow loads",
          {KernelClass::dram, KernelClass::l2, KernelClass::l1, KernelClass::alu,
           KernelClass::latency, KernelClass::tail},
          roof_figures_and({figure::instructions}),
          true,
          false,
          look_for_narrow_loads};
}

}  // namespace kernelpro
