// Everything that a run needs to ask models, from its settings.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/budgeted_caller.hpp"
#include "coordinator/llm/caller.hpp"

namespace kernelpro {

// `run` names the requests of batches. Nobody is asked yet; an error says what is wrong with the
// settings, a key that is missing, a recording that cannot be read. `journal` must outlive it.
[[nodiscard]] Result<std::unique_ptr<BudgetedCaller>> make_caller(const std::string& run,
                                                                  const LlmSettings& settings,
                                                                  CallJournal& journal,
                                                                  CallerOptions options = {});

}  // namespace kernelpro
