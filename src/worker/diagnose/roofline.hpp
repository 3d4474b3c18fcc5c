// Stage 1: what a kernel is held up by, from how far each roof is used. Roofs are what was measured
// on this very device; where that is not known, the unit's own peak as ncu has it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/model/finding.hpp"
#include "common/model/profile.hpp"

namespace kernelpro {

// Set on one half of the cases in bench/defects and reported on the other.
struct RooflineLimits {
  double full = 0.6;          // a roof used that far is what limits
  double busy = 0.8;          // work of the average multiprocessor over the busiest; below: tail
  double gpu_busy = 0.8;      // share of the GPU's time that it does not wait; below: launch
  double disagreement = 2.0;  // bytes moved over bytes declared; from there on a finding
};

// The keys of the figures that classes are told by.
[[nodiscard]] std::set<std::string> roofline_figures();

// Class, confidence, roofs and reason; no tools yet.
[[nodiscard]] KernelDiagnosis classify(const Profile& profile, const KernelProfile& kernel,
                                       const RooflineLimits& limits = {});

// Of the program: `launch` when the GPU waits for the host, else the class of its main kernel. Time
// before the GPU's first work and after its last counts for nothing, nor do gaps in front of work
// that was asked for in time.
struct ProgramClass {
  KernelClass kind = KernelClass::unknown;
  std::string reason;
};
[[nodiscard]] ProgramClass classify_program(const Profile& profile,
                                            const std::vector<KernelDiagnosis>& kernels,
                                            const RooflineLimits& limits = {});

// What the declared work and the trace tell with no counters at all: which classes are possible.
// Empty: nothing can be excluded.
[[nodiscard]] std::vector<KernelClass> possible_classes(const Profile& profile,
                                                        const RooflineLimits& limits = {});

}  // namespace kernelpro
