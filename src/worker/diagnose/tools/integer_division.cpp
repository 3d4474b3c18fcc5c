// Divisions of integers for addresses: GPUs have no instruction for them.
//
// Recognized by their last step, and by the conversion that begins a reciprocal. Divisions with
// hardly any access to memory beside them are the work itself and no reckoning of addresses.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

ToolResult look_for_integer_division(const Profile& profile, const KernelProfile* kernel,
                                     const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double instructions = evidence.figure(figure::instructions);
  const CodeFacts& code = evidence.code();
  need_patterns(code, evidence);
  const double waits = share_of_other_waits(evidence);
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const CodePattern divisions = pattern(code, "index_division");
  const double share = std::min(1.0, divisions.executed / std::max(1.0, instructions));
  const double accesses = requests(
      code, [](const MemoryInstruction& access) { return access.space != Space::constant; });
  if (share < limits.division_share || accesses < limits.accesses_a_division * divisions.begun) {
    return {};
  }
  const double saved = share * (1 - limits.division_left);
  Roofs relief;
  relief.issue = relief.pipes = relief.special = saved;

  Finding finding;
  finding.tool = "integer_division";
  finding.observed = share;
  finding.threshold = limits.division_share;
  finding.unit = "of executed instructions divide integers";
  finding.title = fmt::format(
      "{:.0f} % of the instructions divide integers beside accesses to memory", 100 * share);
  finding.why = "an index that is split once a thread takes less";
  finding.cause =
      "Indices are split by / and % with divisors that the compiler does not know: ten to twenty "
      "instructions each in 32 bits, several times as many in 64.";
  finding.moves = {
      "count rows and columns up instead of splitting an index, and subtract where it wraps",
      "let the dimensions of grid and block be the parts of the index",
      "divide by prepared factors (one product and a shift), or mask where it is a power of two",
      "reckon in unsigned 32 bits where sizes allow it", "index_without_division"};
  finding.derivation = fmt::format(
      "{:.3g} divisions by warps take {:.0f} % of the instructions; by prepared factors {:.0f} % "
      "of that stays; {:.0f} % of samples wait for memory or other warps",
      divisions.begun, 100 * share, 100 * limits.division_left, 100 * waits);
  finding.places = divisions.places;
  return finding_if_worth(std::move(finding),
                          gain_of_instructions(saved, waits, loads, relief, limits), evidence);
}

}  // namespace

Tool integer_division_tool() {
  // Instructions, in kernels that mean to move data.
  return {"integer_division",
          "Integer division in addresses",
          {KernelClass::alu, KernelClass::latency, KernelClass::l1, KernelClass::l2,
           KernelClass::dram, KernelClass::tail},
          roof_figures_and({figure::instructions}),
          look_for_integer_division};
}

}  // namespace kernelpro
