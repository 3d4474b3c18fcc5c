// What is known of how the parent runs, as text: for prompts, and for models that ask.
#pragma once

#include <cstddef>
#include <string>

#include "coordinator/propose/agents/order.hpp"

namespace kernelpro::agents {

// Empty where nothing is known.
[[nodiscard]] std::string class_text(const AgentOrder& order);
// At most that many, the largest predicted gain first.
[[nodiscard]] std::string findings_text(const AgentOrder& order, std::size_t most);
// What kernels take of the device, as the assembler says.
[[nodiscard]] std::string resources_text(const AgentOrder& order);
// Figures alone, without advice.
[[nodiscard]] std::string figures_text(const AgentOrder& order);

}  // namespace kernelpro::agents
