// What runs asked of language models, and the answers. For the files of this room only.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "common/model/node.hpp"
#include "coordinator/store/database.hpp"

namespace kernelpro::store {

// Their table is made when it is first needed, so that stores from before it need no change.
[[nodiscard]] Status keep_call(Database& database, std::int64_t run, const LlmCall& call);
// In the order in which they were first kept.
[[nodiscard]] Result<std::vector<LlmCall>> select_calls(Database& database, std::int64_t run);
// Marks the nodes that models were asked for.
[[nodiscard]] Status add_authorship(Database& database, std::int64_t run, std::vector<Node>& nodes);

}  // namespace kernelpro::store
