// The tools by which a model may look into indexed code (`--code tools`).
#pragma once

#include <string>
#include <vector>

#include "coordinator/llm/chat.hpp"
#include "coordinator/propose/agents/code_library.hpp"

namespace kernelpro::agents {

[[nodiscard]] std::vector<ToolSpec> code_tools();
[[nodiscard]] bool is_code_tool(const std::string& name);

// What a call of one of them is answered with; `failed` where the arguments are nonsense or nothing
// is there. The places that are shown are added to `learned`.
[[nodiscard]] ChatMessage answer_code_call(const CodeLibrary& library, const ToolCall& call,
                                           std::vector<std::string>& learned);

// Passages with their places, as prompts and answers quote them, in at most `most_bytes`.
[[nodiscard]] std::string quoted_passages(const std::vector<CodePassage>& passages,
                                          std::size_t count, std::size_t most_bytes);

}  // namespace kernelpro::agents
