// The options about language models.
#pragma once

#include <functional>
#include <vector>

#include "common/model/llm.hpp"

namespace CLI {
class App;
}

namespace kernelpro {

// What the user wants otherwise than it is: applied to the defaults of a new run, or to what an old
// one has.
using LlmChanges = std::vector<std::function<void(LlmSettings&)>>;

// `changes` must outlive the parsing.
void add_llm_options(CLI::App& app, LlmChanges& changes);

}  // namespace kernelpro
