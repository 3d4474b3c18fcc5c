// Loads of eight bytes or fewer a thread where the warp reads a contiguous piece: twice as many
// instructions as needed or more, and half of the bytes under way or fewer.
//
// Only loads whose neighbors lie side by side can be widened; broadcasts and gathers cannot. Wider
// loads move the same bytes, so a full DRAM or L2 leaves nothing to gain. Nor does one that is full
// below its ceiling: there loads wait far longer than memory takes to answer, in a queue that wider
// ones would only make longer (Little's law).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
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

// So many loads like this one stand beside it.
double alike(const CodeFacts& code, const MemoryInstruction& load) {
  return static_cast<double>(
      std::count_if(code.memory.begin(), code.memory.end(), [&load](const auto& other) {
        return is_load(other) && other.loop == load.loop && other.bits == load.bits &&
               other.executed == load.executed && other.sectors == load.sectors;
      }));
}

// Which loads can be widened.
struct Narrow {
  const CodeFacts& code;
  const Thresholds& limits;
  double l1_hits;  // of all sectors that L1 was asked for

  [[nodiscard]] bool is_contiguous(const MemoryInstruction& load) const {
    // A request takes a sector at least.
    const double least = std::max(sectors_needed(load), load.executed.value_or(0));
    const double times = *load.sectors / least;
    if (times <= 1 + limits.contiguous_slack) {
      return !is_same_for_all(load, limits);
    }
    // The parts of a pair, each by a load of its own: every one touches the sectors of all, and
    // those after the first find them in L1.
    const double parts = std::round(times);
    return times <= parts * (1 + limits.contiguous_slack) && alike(code, load) >= parts &&
           l1_hits >= (1 - 1 / parts) * (1 - limits.contiguous_slack);
  }

  [[nodiscard]] bool operator()(const MemoryInstruction& load) const {
    return is_load(load) && load.executed.value_or(0) > 0 && load.bits <= limits.narrow_bits &&
           is_contiguous(load);
  }
};

Widths widths_of(const Narrow& narrow) {
  Widths sum;
  for (const MemoryInstruction& load : narrow.code.memory) {
    if (!is_load(load) || load.executed.value_or(1) <= 0) {
      continue;
    }
    if (!load.sectors || !load.executed) {
      sum.counted = false;
      continue;
    }
    sum.bytes += std::min(bytes_of(load), *load.sectors * sector_bytes);
    sum.requests += *load.executed;
    sum.same_requests += is_same_for_all(load, narrow.limits) ? *load.executed : 0;
    if (!narrow(load)) {
      continue;
    }
    sum.narrow_bytes += bytes_of(load);
    sum.narrow_requests += *load.executed;
    sum.wide_requests += *load.executed * load.bits / narrow.limits.wide_bits;
    sum.lost_turns += *load.executed * std::max(0.0, 1 - load.bits / turn_bits);
    sum.places.emplace_back(*load.executed, load.place);
  }
  return sum;
}

// The part of narrow loads in what warps wait for. Turns of L1 weigh.
struct Theirs {
  double waits = 0;  // for values, and for those of what is loaded along with each narrow load: a
                     // thread that takes more elements loads that once for all of them
  double queue = 0;  // for a place in the queue of L1, which stores fill as well
};

Theirs theirs_of(const Narrow& narrow, const Widths& widths) {
  const double far = l1_turns(narrow.code, is_far);
  const double waited = l1_turns(narrow.code, [](const MemoryInstruction& access) {
    return is_far(access) && !is_one_of(access.access, {Access::store, Access::reduction});
  });
  const double turns = l1_turns(narrow.code, narrow);
  const double along = std::min(turns, widths.same_requests);
  return {std::min(1.0, (turns + along) / std::max(1.0, waited)),
          std::min(1.0, turns / std::max(1.0, far))};
}

// What decides whether wider loads bring more bytes under way.
struct Room {
  double wait_ns = 0;  // of a warp, for the loads that it has under way at once
  bool registers_bind = false;
};

Room room_of(Evidence& evidence, const KernelProfile& kernel, double waiting) {
  // Resident warps spend `waiting` of their time so, once for each round of loads.
  const CodeFacts& code = evidence.code();
  const double warps = evidence.figure(figure::occupancy) * evidence.limit("warps") *
                       evidence.limit("multiprocessors");
  const double time =
      kernel.figure(figure::duration_ns).value_or(kernel.duration_ns) * active_share(kernel).mean;
  const double rounds = requests(code, is_load) / std::max(1.0, hottest_loads(code).together);
  const double others =
      std::min({evidence.figure(figure::limit_warps), evidence.figure(figure::limit_blocks),
                evidence.figure(figure::limit_shared)});
  return {rounds > 0 ? waiting * warps * time / rounds : 0,
          evidence.figure(figure::limit_registers) < others};
}

// The part of the wait for loads that goes once they are wide.
double saved_by_width(const Room& room, double narrower, const Thresholds& limits) {
  if (room.registers_bind) {
    // A thread that takes more elements holds more of them in registers: threads go as bytes a
    // thread come.
    return 0;
  }
  // Beyond what memory takes to answer the wait is for a queue, and that is for bytes.
  return narrower * std::clamp(2 - room.wait_ns / limits.answered_ns, 0.0, 1.0);
}

// Wide loads reach what was measured of DRAM, which was measured by wide loads.
Roofs roofs_of_wide_loads(const Profile& profile, const KernelProfile& kernel, const Roofs& loads,
                          const Thresholds& limits) {
  Thresholds streaming = limits;
  streaming.dram_reached = 1;
  Roofs roofs = scaled(loads, 1 / limits.hidden_reach);
  roofs.dram = roofs_of(profile, kernel, streaming).dram;
  return roofs;
}

Finding narrow_finding(double share, double bits, const Widths& widths, const Thresholds& limits) {
  Finding finding;
  finding.tool = "narrow_loads";
  finding.observed = bits;
  finding.threshold = limits.narrow_bits;
  finding.unit = "bits a thread and load";
  finding.title = fmt::format(
      "{:.0f} % of the bytes loaded come by {:.0f} bits a thread, where {:.0f} would go",
      100 * share, bits, limits.wide_bits);
  finding.why = "a thread can load 128 bits at once; the bytes under way hide the latency";
  finding.cause =
      "Each thread loads one small element at a time from contiguous memory: too few bytes are "
      "under way, and too many instructions move them.";
  finding.moves = {"load float4 (16 bytes) a thread where the address is aligned",
                   "let each thread take several neighboring elements",
                   "device_vectors",
                   "restrict_all",
                   "vector_loads",
                   "misaligned_rows"};
  finding.places = top_places(widths.places);
  return finding;
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
  const Narrow is_narrow{code, limits, evidence.figure(figure::l1_hit_rate)};
  const Widths widths = widths_of(is_narrow);
  const Room room = kernel == nullptr ? Room{} : room_of(evidence, *kernel, latency);
  if (!widths.counted) {
    evidence.missing("no sectors at the instructions");
  }
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const double share = widths.bytes > 0 ? widths.narrow_bytes / widths.bytes : 0;
  if (share < limits.narrow_share || loads_again(code) || reads_past_l1(code) ||
      mean < (1 - limits.most_idle) * most) {
    return {};
  }
  // What waits for memory may also wait for local memory or atomics.
  const double others = requests(code, [](const MemoryInstruction& access) {
    return is_far(access) && !is_load(access) && access.access != Access::store;
  });
  const double all_requests = requests(
      code, [](const MemoryInstruction& access) { return access.space != Space::constant; });
  if (widths.requests < limits.global_load_share * (widths.requests + others)) {
    return {};
  }
  const double saved_requests = widths.narrow_requests - widths.wide_requests;
  const double bits = limits.wide_bits * widths.wide_requests / widths.narrow_requests;
  const double narrower = 1 - bits / limits.wide_bits;
  const double saved = saved_by_width(room, narrower, limits);
  const Theirs theirs = theirs_of(is_narrow, widths);
  Roofs relief;
  relief.lsu = std::min(1.0, saved_requests / std::max(1.0, all_requests));
  relief.issue =
      std::min(1.0, limits.instructions_per_load * saved_requests / std::max(1.0, instructions));
  relief.l1 = std::min(
      1.0, widths.lost_turns / std::max(1.0, l1_turns(code, [](const auto&) { return true; })));
  const double blamed = theirs.waits * saved * latency + theirs.queue * narrower * throttled;

  Finding finding = narrow_finding(share, bits, widths, limits);
  finding.derivation = fmt::format(
      "{:.0f} % of samples wait for loads, {:.0f} ns a time and {:.0f} % of that for narrow ones: "
      "wider ones take {:.0f} % of these waits away; {:.0f} % wait for a place in the queue, "
      "{:.0f} % of that behind narrow ones",
      100 * latency, room.wait_ns, 100 * theirs.waits, 100 * saved, 100 * throttled,
      100 * theirs.queue);
  return finding_if_worth(
      std::move(finding),
      gain_of(blamed, roofs_of_wide_loads(profile, *kernel, loads, limits), relief, limits),
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
          roof_figures_and({figure::instructions, figure::l1_hit_rate, figure::occupancy,
                            figure::limit_registers, figure::limit_shared, figure::limit_warps,
                            figure::limit_blocks}),
          look_for_narrow_loads};
}

}  // namespace kernelpro
