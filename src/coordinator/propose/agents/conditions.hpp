// Lines of a prompt that stand where they have a meaning only: `{{if axes}}` … `{{end}}`.
#pragma once

#include <string>
#include <vector>

#include "coordinator/propose/agents/order.hpp"

namespace kernelpro::agents {

// "axes", "constant", …; each holds or not for a whole run, so that a prompt's system part stays
// the same in it.
[[nodiscard]] const std::vector<std::string>& condition_names();
// `condition` is a name, or "not NAME".
[[nodiscard]] bool is_condition(const std::string& condition);
[[nodiscard]] bool holds(const std::string& condition, const AgentOrder& order);
[[nodiscard]] bool hold(const std::vector<std::string>& all, const AgentOrder& order);

}  // namespace kernelpro::agents
