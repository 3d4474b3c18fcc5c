// A hot loop that computes one element at a time, or with vectors narrower than this processor's.
//
// Its own machine code says that; why it is so, the compiler's remarks do, or what the code shows.
// A recurrence cannot be vectorized as it stands, and what looks up addresses in memory gains
// little, as little as what strides through it: about those it says nothing. What waits for memory
// gains nothing either.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "worker/diagnose/tools/host_loops.hpp"
#include "worker/diagnose/tools/host_tools.hpp"

namespace kernelpro {

namespace {

bool says(const HostLoop& loop, std::string_view words) {
  return std::any_of(loop.remarks.begin(), loop.remarks.end(), [words](const std::string& remark) {
    return remark.find(words) != std::string::npos;
  });
}

struct Reason {
  std::string cause;
  std::vector<std::string> moves;
};

Reason reason_of(const HostLoop& loop) {
  if (!loop.calls.empty()) {
    return {fmt::format("The loop calls {}, one element at a time.",
                        loop.calls.front().empty() ? "a function" : loop.calls.front()),
            {"vector_math", "fast_math", "inline_calls"}};
  }
  if (loop.reduction || says(loop, "reorder floating-point") || says(loop, "reduction")) {
    return {"Sums are computed in the order of the source, which the compiler must keep.",
            {"split_accumulator", "simd", "vector_reduction", "fast_math"}};
  }
  if (says(loop, "alias") || says(loop, "dependence") ||
      says(loop, "cannot identify array bounds")) {
    return {"The compiler cannot exclude that what is written is read again.",
            {"restrict_pointers", "simd"}};
  }
  if (says(loop, "access pattern") || says(loop, "stride") || loop.gathers > 0) {
    return {"Neighbors in the loop are no neighbors in memory.", {"interchange", "pack", "simd"}};
  }
  if (loop.branches > 0 || says(loop, "control flow")) {
    return {"The loop branches inside, or leaves early.",
            {"simd", "vector_reduction", "write the branch as a choice between two values"}};
  }
  return {"The compiler made scalar code of it.", {"best_flags", "simd", "vector_cost"}};
}

Finding scalar_finding(const HostLoop& loop, double lanes) {
  Finding finding;
  finding.tool = "not_vectorized";
  finding.observed = 1;
  finding.threshold = lanes;
  finding.unit = "elements an instruction";
  finding.why = "a vector of this processor holds so many";
  finding.title = fmt::format(
      "The hot loop is not vectorized: {} scalar instructions compute in it", loop.scalar);
  Reason reason = reason_of(loop);
  finding.cause = std::move(reason.cause);
  finding.moves = std::move(reason.moves);
  if (!loop.remarks.empty()) {
    finding.cause += fmt::format(" The compiler says: {}", loop.remarks.front());
  }
  return finding;
}

Finding narrow_vectors(const HostLoop& loop, double widest) {
  Finding finding;
  finding.tool = "not_vectorized";
  finding.observed = loop.vector_bits;
  finding.threshold = widest;
  finding.unit = "bits a vector";
  finding.why = "this processor has wider registers";
  finding.title =
      fmt::format("The hot loop computes with vectors of {} bits, where {:.0f} would go",
                  loop.vector_bits, widest);
  finding.cause = "It was compiled for any processor, not for this one.";
  finding.moves = {"best_flags", "compile for this processor: -march=native"};
  return finding;
}

// "expf@plt", "log", "__pow_finite": of these there are versions for vectors.
bool is_mathematics(std::string_view callee) {
  static const std::set<std::string, std::less<>> known = {
      "exp",  "exp2", "expm1", "log",   "log2", "log10", "log1p", "pow",  "sin",  "cos",
      "tan",  "asin", "acos",  "atan",  "sinh", "cosh",  "tanh",  "erf",  "erfc", "cbrt",
      "sqrt", "fmod", "hypot", "atan2", "fmin", "fmax",  "round", "rint", "floor"};
  callee = callee.substr(0, callee.find('@'));
  if (callee.starts_with("__") && callee.ends_with("_finite")) {
    callee = callee.substr(2, callee.size() - 9);
  }
  return known.contains(callee) ||
         (callee.ends_with('f') && known.contains(callee.substr(0, callee.size() - 1)));
}

// Whether what the loop calls could be a part of it: mathematics, or a function without loops.
bool could_be_inlined(const Profile& profile, const std::string& callee) {
  return is_mathematics(callee) ||
         std::any_of(profile.kernels.begin(), profile.kernels.end(), [&](const KernelProfile& one) {
           return one.name == callee && one.loops.empty();
         });
}

bool has_scalars(const HostLoop& loop) {
  return loop.scalar > loop.packed || (!loop.calls.empty() && loop.packed == 0);
}

// What is left of a loop's own time with as many elements at once. A scalar sum waits for its chain
// too, and vectors take several sums side by side.
double left_of_computing(const HostLoop& loop, double times, const Thresholds& limits) {
  double left = 1 / (1 + (times - 1) * limits.lanes_reached);
  if (loop.reduction && loop.scalar > loop.packed && loop.chain_cycles && loop.unit_cycles &&
      *loop.chain_cycles > *loop.unit_cycles) {
    left *= std::max(*loop.unit_cycles / *loop.chain_cycles, 1 / limits.chains);
  }
  return left;
}

ToolResult look_at_loop(const Profile& profile, const KernelProfile& kernel, const HostLoop& loop,
                        const Thresholds& limits) {
  const double widest =
      std::min<double>(limits.used_vector_bits, profile.host ? profile.host->vector_bits : 0);
  const double lanes = loop.element_bits > 0 ? widest / loop.element_bits : 0;
  const bool scalar = has_scalars(loop);
  const bool narrow = !scalar && loop.vector_bits > 0 && loop.vector_bits < widest;
  if (loop.chased || loop.recurrence || loop.indirect > 0 || (!scalar && !narrow) ||
      (scalar && lanes < 2 && loop.calls.empty()) ||
      fetched_over_used(loop, limits) >= limits.fetched_over_used ||
      !std::all_of(loop.calls.begin(), loop.calls.end(),
                   [&](const std::string& callee) { return could_be_inlined(profile, callee); })) {
    return {};
  }
  const std::optional<double> waiting = waiting_share(profile, loop, limits);
  if (!waiting) {
    return {{}, {"no turns of the loop were counted, so memory cannot be told from arithmetic"}};
  }
  const double times = narrow ? widest / loop.vector_bits : std::max(lanes, 2.0);
  const double left = *waiting + (1 - *waiting) * left_of_computing(loop, times, limits);
  Finding finding = narrow ? narrow_vectors(loop, widest) : scalar_finding(loop, lanes);
  finding.derivation =
      fmt::format("{:.0f} % of its time are waits for other things", 100 * *waiting);
  return loop_finding_if_worth(std::move(finding), kernel, loop, left, limits);
}

ToolResult look_for_scalar_loops(const Profile& profile, const KernelProfile* kernel,
                                 const Thresholds& limits) {
  return for_hot_loops(kernel, limits, [&](const HostLoop& loop) {
    return look_at_loop(profile, *kernel, loop, limits);
  });
}

}  // namespace

Tool not_vectorized_tool() {
  return {
      "not_vectorized",
      "Loop not vectorized",
      {KernelClass::alu, KernelClass::latency, KernelClass::l1, KernelClass::l2, KernelClass::tail},
      {},
      look_for_scalar_loops};
}

}  // namespace kernelpro
