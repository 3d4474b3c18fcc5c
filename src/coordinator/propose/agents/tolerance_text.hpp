// What a result may err by, in words and in numbers.
#pragma once

#include <string>

#include "coordinator/propose/agents/order.hpp"

namespace kernelpro::agents {

[[nodiscard]] std::string tolerance_text(const AgentOrder& order);

}  // namespace kernelpro::agents
