// Double precision that nobody asked for: a constant without a suffix, or a function of double, in
// code whose values come and go in single precision.
//
// It shows in the code: values, or integers, are converted to double and, after a few steps,
// compared or converted back. Sums that stay in double and tensors of double do not go back and
// forth; nor do results that are stored in double, which may be compared on their way.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

struct DoubleUse {
  double trips = 0;     // to double and back, by warps
  double executed = 0;  // instructions of these trips
  double part = 0;      // of all instructions in double
  double left = 0;      // of their time, in single precision
};

// Conversions from double to single precision, by warps.
double to_single(const CodeFacts& code) {
  return std::max(0.0, code.fp64_conversions - pattern(code, "to_double").begun);
}

// Whether results are stored in double: nothing becomes single again, most steps are no
// comparisons, and stores are as wide.
bool stays_in_double(const CodeFacts& code) {
  constexpr int double_bits = 64;
  return to_single(code) <= 0 && amount(code, "fp64") > 2 * pattern(code, "from_double").begun &&
         std::any_of(code.memory.begin(), code.memory.end(), [](const MemoryInstruction& access) {
           return access.space == Space::global && access.access == Access::store &&
                  access.bits >= double_bits && access.executed.value_or(0) > 0;
         });
}

DoubleUse double_use(const CodeFacts& code, const Thresholds& limits) {
  const CodePattern all = pattern(code, "double");
  const double from = pattern(code, "from_double").begun;
  double to = pattern(code, "to_double").begun;
  DoubleUse use;
  use.trips = std::min(to, from);
  // Integers that become single values by way of double; others are compared, or stay.
  const double integers = std::min(pattern(code, "integer_to_double").begun,
                                   std::max(0.0, to_single(code) - use.trips));
  to += integers;
  use.trips += integers;
  use.executed = std::min(all.executed, use.trips * limits.most_trip_steps);
  use.part = all.executed > 0 ? use.executed / all.executed : 0;
  const double steps = std::max(0.0, all.executed - to - from);
  // A long way between the conversions is a function: in single precision it is shorter too.
  const double arithmetic = std::min(steps, use.trips * limits.plain_trip_steps);
  const double kept = arithmetic + (steps - arithmetic) * limits.single_function_steps;
  const double cost = steps * limits.double_turns + (to + from) * limits.conversion_turns;
  use.left = cost > 0 ? std::min(1.0, kept / cost) : 1;
  return use;
}

ToolResult look_for_accidental_double(const Profile& profile, const KernelProfile* kernel,
                                      const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double instructions = evidence.figure(figure::instructions);
  const CodeFacts& code = evidence.code();
  need_patterns(code, evidence);
  need_samples(evidence);
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const bool asked_for = (profile.work && profile.work->type == "f64") || stays_in_double(code);
  const DoubleUse use = double_use(code, limits);
  const double share = use.executed / std::max(1.0, instructions);
  if (asked_for || share < limits.double_share) {
    return {};
  }
  const CodePattern all = pattern(code, "double");
  const double waits = sample_share(*kernel, all.samples) * use.part;
  Roofs relief;
  relief.pipes = relief.special = use.part * (1 - use.left);
  relief.issue = std::min(1.0, 2 * use.trips / std::max(1.0, instructions));

  Finding finding;
  finding.tool = "accidental_double";
  finding.observed = share;
  finding.threshold = limits.double_share;
  finding.unit = "of executed instructions are in double or convert to it";
  finding.title =
      fmt::format("{:.0f} % of the instructions are in double precision, between values in single",
                  100 * share);
  finding.why = "a scale that is computed once costs nothing";
  finding.cause =
      "A constant without the suffix f, or a function of double, takes single values to double and "
      "back; conversions go at an eighth of the rate, double arithmetic at half of it or less.";
  finding.moves = {"write constants with the suffix f: 0.1f",
                   "call the functions of single precision: sqrtf, expf, powf, fabsf",
                   "keep double for sums that need it, and convert once at the end",
                   "single_constants"};
  finding.derivation = fmt::format(
      "{:.3g} times by warps values go to double and back; {:.0f} % of samples lie at these "
      "instructions, of whose time single precision takes {:.0f} %",
      use.trips, 100 * waits, 100 * use.left);
  // Where values are taken to double: a sum that is meant to be in double may stand elsewhere.
  finding.places = pattern(code, "to_double").places;
  const auto& integers = pattern(code, "integer_to_double").places;
  finding.places.insert(finding.places.end(), integers.begin(), integers.end());
  return finding_if_worth(std::move(finding),
                          gain_of(waits * (1 - use.left), loads, relief, limits), evidence);
}

}  // namespace

Tool accidental_double_tool() {
  // The pipes for double and for conversions, or waits for their results.
  return {"accidental_double",
          "Double precision by accident",
          {KernelClass::alu, KernelClass::latency, KernelClass::l1, KernelClass::l2,
           KernelClass::tensor, KernelClass::tail},
          roof_figures_and({figure::instructions}),
          look_for_accidental_double};
}

}  // namespace kernelpro
