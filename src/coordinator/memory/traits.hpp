// What lessons are found by: traits of tasks, devices and code, and how far two of them are apart.
#pragma once

#include <string>
#include <vector>

#include "common/model/candidate.hpp"
#include "common/model/certificate.hpp"
#include "common/model/lesson.hpp"
#include "common/model/node.hpp"
#include "common/model/task.hpp"

namespace kernelpro::memory {

// One trait: numbers that lie `scale` apart are as far from each other as `weight` says.
struct TraitKind {
  const char* name;
  double scale;
  double weight;
};

// In the order in which a memory keeps them; a new one is a new version of the file.
[[nodiscard]] const std::vector<TraitKind>& task_trait_kinds();
[[nodiscard]] const std::vector<TraitKind>& device_trait_kinds();
[[nodiscard]] const std::vector<TraitKind>& code_trait_kinds();

// From the formulas, types and first timed shape; never from its name, family or summary.
[[nodiscard]] Traits task_traits(const Task& task, Backend backend, const MachineRecord& machine);

[[nodiscard]] Traits device_traits(const MachineRecord& machine, const Ceilings& ceilings,
                                   Backend backend);
// "aarch64", "90a".
[[nodiscard]] std::string architecture_of(const MachineRecord& machine, Backend backend);

// From the text, the build and how far its bound is; the candidate need not compile.
[[nodiscard]] Traits code_traits(const Candidate& candidate, const Diagnosis& diagnosis);

// 0: alike. A trait that only one side has counts half its weight.
[[nodiscard]] double distance(const std::vector<TraitKind>& kinds, const Traits& one,
                              const Traits& other);

// As a memory keeps them: NaN where there is none. Names that `kinds` lacks are left out.
[[nodiscard]] std::vector<float> packed(const std::vector<TraitKind>& kinds, const Traits& traits);
[[nodiscard]] Traits unpacked(const std::vector<TraitKind>& kinds, const float* values);

}  // namespace kernelpro::memory
