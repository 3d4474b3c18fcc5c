// The answers that lie in the folder of a batch.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/llm/batch_id.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro {

// One line of a file of responses.
struct BatchResponse {
  std::optional<ChatAnswer> answer;  // none: the request failed
  std::string failure;
  std::string place;  // "FILE:LINE"
};

// By the name of the request (BatchId::text).
using BatchResponses = std::map<std::string, BatchResponse>;

// Those to requests of `run`, from all responses*.jsonl. Nothing is taken where one line is wrong
// (the error says which): no JSON, no response, to a request that is not `known`, two different
// answers to one. A file with answers to other runs only is an error too, unless those share the
// folder (`sharing`).
[[nodiscard]] Result<BatchResponses> read_batch_responses(const std::filesystem::path& directory,
                                                          const std::string& run,
                                                          const BatchIds& known,
                                                          const std::set<std::string>& sharing);

}  // namespace kernelpro
