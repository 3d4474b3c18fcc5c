// Divisions, roots, powers and other functions that take many instructions, where shorter forms
// give nearly the same.
//
// Each is recognized by an instruction that it has once, and counted; what is beyond its short form
// could be spared. A short form asks the special function unit as often as the long one does: where
// that unit is full, fewer steps beside it gain nothing. Divisions of integers are
// integer_division's.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

// Short forms and options for them exist in single precision alone.
std::vector<std::string> function_moves(bool in_double) {
  const std::string divide = "divide once and multiply by the reciprocal, where the divisor stays";
  const std::string table = "take values of a few fixed arguments from a table, or by recurrence";
  if (in_double) {
    return {divide, "write small whole powers as products, and rsqrt for 1 / sqrt", table,
            "compute in single precision what need not be in double", "cheaper_functions"};
  }
  return {
      divide,
      "write small whole powers as products, x * sqrtf(x) for x to 1.5, and rsqrtf for 1 / sqrtf",
      "take __fdividef, __expf, __logf, __sinf where the error allows it",
      table,
      "cheaper_functions",
      "fast_math",
      "fast_division"};
}

// Of the special function unit's time, what is no reciprocal, root or exponential but belongs to
// the long forms: their checks and conversions.
double special_spared(const Profile& profile, const KernelProfile& kernel, const CodeFacts& code,
                      const Thresholds& limits) {
  const double busy = kernel.figure(figure::special_use).value_or(0) *
                      kernel.figure(figure::sm_elapsed).value_or(0) *
                      profile.limit("multiprocessors").value_or(0);
  return relief_of(amount(code, "special") * limits.special_cycles, busy);
}

ToolResult look_for_slow_arithmetic(const Profile& profile, const KernelProfile* kernel,
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
  const CodePattern slow = pattern(code, "function");
  const double share = std::min(1.0, slow.executed / std::max(1.0, instructions));
  if (share < limits.function_share) {
    return {};
  }
  Roofs relief;
  relief.issue = relief.pipes = share;
  relief.special = special_spared(profile, *kernel, code, limits);

  Finding finding;
  finding.tool = "slow_arithmetic";
  finding.observed = share;
  finding.threshold = limits.function_share;
  finding.unit = "of executed instructions are beyond the short forms";
  finding.title = fmt::format(
      "{:.0f} % of the instructions are steps of divisions and functions that short forms spare",
      100 * share);
  finding.why = "fewer are lost beside what the kernel computes";
  finding.cause =
      "Division, square root, powers, exponentials and sines in full precision are ten to forty "
      "instructions each, and a branch for rare values.";
  finding.moves = function_moves(amount(code, "fp64") > amount(code, "fp32"));
  finding.derivation = fmt::format(
      "{:.3g} divisions and functions by warps take {:.0f} % of the instructions beyond their "
      "short forms; {:.0f} % of samples wait for memory or other warps",
      slow.begun, 100 * share, 100 * waits);
  finding.places = slow.places;
  return finding_if_worth(std::move(finding),
                          gain_of_instructions(share, waits, loads, relief, limits), evidence);
}

}  // namespace

Tool slow_arithmetic_tool() {
  return {"slow_arithmetic",
          "Slow arithmetic",
          {KernelClass::alu, KernelClass::latency, KernelClass::l1, KernelClass::l2,
           KernelClass::tensor, KernelClass::tail},
          roof_figures_and({figure::instructions}),
          look_for_slow_arithmetic};
}

}  // namespace kernelpro
