// The tool by which a model may look at the parent's profile (`--tools reactive`).
#pragma once

#include <string>

#include "coordinator/llm/chat.hpp"
#include "coordinator/propose/agents/order.hpp"

namespace kernelpro::agents {

inline constexpr const char* profile_tool_name = "look_at_profile";
// How many turns of one role may call tools, this and those of code.
inline constexpr int most_tool_turns = 4;

// Whether models may ask, and there is something to see.
[[nodiscard]] bool offers_profile_tool(const AgentOrder& order);

[[nodiscard]] ToolSpec profile_tool();

// What a call is answered with; `failed` where the arguments are nonsense.
[[nodiscard]] ChatMessage answer_profile_call(const AgentOrder& order, const ToolCall& call);

}  // namespace kernelpro::agents
