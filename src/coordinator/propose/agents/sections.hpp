// The sections, by the file that makes them. Their contract is in section.hpp.
#pragma once

#include <string>

#include "coordinator/propose/agents/section.hpp"

namespace kernelpro::agents {

// sections_steady.cpp
[[nodiscard]] std::string contract_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string backend_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string language_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string machine_section(const Scene& scene, const Shown& shown);
// sections_task.cpp
[[nodiscard]] std::string task_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string reference_section(const Scene& scene, const Shown& shown);
// sections_parent.cpp
[[nodiscard]] std::string parent_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string profile_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string evidence_section(const Scene& scene, const Shown& shown);
// sections_past.cpp
[[nodiscard]] std::string history_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string siblings_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string memory_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string budget_section(const Scene& scene, const Shown& shown);
// sections_lessons.cpp
[[nodiscard]] std::string lessons_section(const Scene& scene, const Shown& shown);
// sections_code.cpp
[[nodiscard]] std::string code_section(const Scene& scene, const Shown& shown);
// sections_plan.cpp
[[nodiscard]] std::string moves_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string move_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string plan_section(const Scene& scene, const Shown& shown);
[[nodiscard]] std::string candidate_section(const Scene& scene, const Shown& shown);

}  // namespace kernelpro::agents
