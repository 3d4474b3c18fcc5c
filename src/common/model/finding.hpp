// What a diagnosis says: the class of the bottleneck, and findings an engineer would act on.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/profile.hpp"

namespace kernelpro {

// What a kernel is held up by.
enum class KernelClass {
  unknown,
  dram,
  l2,
  l1,  // L1 and shared memory
  tensor,
  alu,      // arithmetic other than tensor cores, issue slots included
  latency,  // nothing is used up: warps wait
  tail,     // too few blocks, or unequal ones: multiprocessors stand idle
  launch,   // the GPU waits for the host
};

[[nodiscard]] std::string_view name_of(KernelClass kind);

enum class Severity { low, medium, high };

[[nodiscard]] std::string_view name_of(Severity severity);

struct Finding {
  std::string tool;    // id
  std::string kernel;  // name for people; empty: the whole program
  Severity severity = Severity::medium;
  std::string title;               // one line
  double observed = 0;             // what was seen
  double threshold = 0;            // what it was held against
  std::string unit;                // of both
  std::string why;                 // why that threshold
  std::string cause;               // the root cause, in words
  std::vector<std::string> moves;  // what to do, best first
  double predicted_gain = 1;       // factor for the whole traced part
  std::string derivation;          // how that was derived
  // As the tool derived it, where what its findings gained before has changed the prediction; 0: it
  // has not.
  double derived_gain = 0;
  std::vector<SourcePlace> places;
};

// Largest predicted gain first; equal ones by tool and kernel.
void sort_by_gain(std::vector<Finding>& findings);

// How far one roof is used, against what was measured on this device.
struct RoofUse {
  std::string roof;  // "dram", "l2", "shared", "tensor", "fp32", "issue", …
  double share = 0;  // 0 to 1
  std::string text;  // "3.1 of 4.2 TB/s"
};

struct SkippedTool {
  std::string tool;
  std::string reason;
};

// Of one kernel.
struct KernelDiagnosis {
  std::string kernel;
  double share = 1;
  KernelClass kind = KernelClass::unknown;
  double confidence = 0;       // 0 to 1
  std::string reason;          // one sentence
  std::vector<RoofUse> roofs;  // fullest first
  std::vector<SkippedTool> skipped;
  std::vector<std::string> not_available;  // "bank_conflicts: no shared wavefronts (…)"
};

struct DiagnosisReport {
  KernelClass kind =
      KernelClass::unknown;  // of the program: the launch class, or its main kernel's
  std::string reason;
  std::vector<KernelDiagnosis> kernels;
  std::vector<Finding> findings;  // largest predicted gain first
  // Of the main kernel, by the keys of its profile: what is shown where advice is not wanted.
  std::map<std::string, double> figures;
};

}  // namespace kernelpro
