// A prompt file and what is known become the text that is sent.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/propose/agents/prompt_file.hpp"
#include "coordinator/propose/agents/section.hpp"

namespace kernelpro::agents {

struct Rendered {
  std::string system;  // the same for all calls of a role in a run
  std::string user;
  std::size_t code = 0;  // passages of code that are in it
};

// At most about `most_tokens` for both: lists are shortened in the order that docs/agents.md has.
// The contract, the task, sources and evidence stay whole; where they do not fit, the error says
// how long each section is.
[[nodiscard]] Result<Rendered> render(const PromptFile& prompt, const Scene& scene,
                                      std::int64_t most_tokens);

}  // namespace kernelpro::agents
