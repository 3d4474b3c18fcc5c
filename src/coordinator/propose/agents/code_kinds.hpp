// What a piece of code in an answer is.
#pragma once

#include <string>
#include <string_view>

#include "common/model/backend.hpp"
#include "coordinator/propose/agents/code_blocks.hpp"

namespace kernelpro::agents {

// Python for any backend, CUDA for a CPU; what comments and strings say does not count.
[[nodiscard]] bool is_wrong_language(const CodeBlock& block, Backend backend);

// As of diff or git: lines that go, lines that come.
[[nodiscard]] bool is_difference(const CodeBlock& block);

// kp_launch with its parameters and its body, outside of comments: neither a declaration nor a
// call.
[[nodiscard]] bool defines_launch(const std::string& source);

// Whether all of a text is a candidate's source: one that was not put in a code block.
[[nodiscard]] bool is_bare_source(const std::string& text);

}  // namespace kernelpro::agents
