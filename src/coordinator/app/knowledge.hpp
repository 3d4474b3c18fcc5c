// What is known of a backend whatever the task is: its moves, and what a candidate must be.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/backend.hpp"
#include "coordinator/propose/move.hpp"

namespace kernelpro {

[[nodiscard]] Result<std::vector<Move>> moves_of(Backend backend);

// The interface of candidates, the rules of the judge, and what holds on that backend; Markdown.
[[nodiscard]] Result<std::string> contract_of(Backend backend);

}  // namespace kernelpro
