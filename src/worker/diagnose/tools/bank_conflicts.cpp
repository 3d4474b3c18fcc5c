// Shared-memory accesses that need more turns than their bytes.
//
// One pipe a multiprocessor serves these turns, so the time it spends on the ones too many is the
// most that can be saved: its use times their share. Warps must also be seen waiting for it.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

// Atomics on shared memory take turns for another reason: contended_atomics looks at them.
bool may_conflict(const MemoryInstruction& instruction) {
  return instruction.space == Space::shared &&
         !is_one_of(instruction.access, {Access::atomic, Access::reduction});
}

struct Turns {
  double all = 0;
  double excess = 0;
  bool counted = true;
  Weighed places;
};

Turns turns_of(const CodeFacts& code) {
  Turns sum;
  for (const MemoryInstruction& instruction : code.memory) {
    if (!may_conflict(instruction) || instruction.executed.value_or(1) <= 0) {
      continue;
    }
    if (!instruction.wavefronts || !instruction.ideal_wavefronts) {
      sum.counted = false;
      continue;
    }
    const double excess = std::max(0.0, *instruction.wavefronts - *instruction.ideal_wavefronts);
    sum.all += *instruction.wavefronts;
    sum.excess += excess;
    sum.places.emplace_back(excess, instruction.place);
  }
  return sum;
}

ToolResult look_for_bank_conflicts(const Profile& profile, const KernelProfile* kernel,
                                   const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double waits = evidence.stalled({"short_scoreboard", "mio_throttle"});
  const double barriers = evidence.stalled({"barrier"});
  const double l1_use = evidence.figure(figure::l1_use);
  const CodeFacts& code = evidence.code();
  const Turns turns = turns_of(code);
  if (!turns.counted) {
    evidence.missing("no wavefronts at the instructions");
  }
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const double share = turns.all > 0 ? turns.excess / turns.all : 0;
  if (share < limits.conflict_share) {
    return {};
  }
  const double all_turns = l1_turns(code, [](const MemoryInstruction&) { return true; });
  const double pipe_share = turns.excess / std::max(turns.all, all_turns);
  const double pipe_time = l1_use * pipe_share;
  // A warp that comes late to a barrier makes the others wait there.
  const double saved = std::min(pipe_time, waits + barriers);
  Roofs relief;
  relief.l1 = pipe_share;

  Finding finding;
  finding.tool = "bank_conflicts";
  finding.observed = turns.all / (turns.all - turns.excess);
  finding.threshold = 1 / (1 - limits.conflict_share);
  finding.unit = "times the wavefronts needed";
  finding.title =
      fmt::format("Shared memory takes {:.1f} turns where one would do", finding.observed);
  finding.why = "threads that access different banks, or the same word, need no turn more";
  finding.cause =
      "Several threads of a warp access different words of the same bank, and these accesses are "
      "served one after the other.";
  finding.moves = {"pad the rows of the tile by one element, so that a column falls on all banks",
                   "swizzle the column index with the row (exclusive or)",
                   "let neighboring threads access neighboring words",
                   "move 16 bytes a thread with float4", "pad_shared"};
  finding.derivation = fmt::format(
      "{:.0f} % of the shared wavefronts are too many and take {:.0f} % of the kernel's time at "
      "the pipe; {:.0f} % of samples wait for it and {:.0f} % at barriers",
      100 * share, 100 * pipe_time, 100 * waits, 100 * barriers);
  finding.places = top_places(turns.places);
  return finding_if_worth(std::move(finding), gain_of_time(saved, loads, relief), evidence);
}

}  // namespace

Tool bank_conflicts_tool() {
  // The pipe itself full, or warps waiting for single slow accesses; also under arithmetic, tensor
  // cores that wait for their tiles, and blocks of unequal length.
  return {"bank_conflicts",
          "Shared-memory bank conflicts",
          {KernelClass::l1, KernelClass::latency, KernelClass::alu, KernelClass::tensor,
           KernelClass::tail},
          roof_figures_and({}),
          look_for_bank_conflicts};
}

}  // namespace kernelpro
