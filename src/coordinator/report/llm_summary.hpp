// What models did in a run, as text for people and as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/model/llm.hpp"

namespace kernelpro {

struct LlmSummary {
  std::int64_t answered = 0;
  std::int64_t waiting = 0;
  std::int64_t failed = 0;
  std::string last_failure;      // in the words of the last that failed
  std::int64_t asked_again = 0;  // turns beyond the first of a role for a node
  Usage usage;                   // of all, what is reserved for waiting ones aside
  std::int64_t cost = 0;         // in billionths of a dollar
  std::int64_t unpriced = 0;     // answered calls without a known price
  std::map<std::string, std::int64_t> answered_by;
};

[[nodiscard]] LlmSummary summarize_calls(const std::vector<LlmCall>& calls);

// "24 calls answered by …, 81234 tokens in, 20110 out, $0.31; 2 waiting"
[[nodiscard]] std::string llm_text(const LlmSummary& summary);
[[nodiscard]] nlohmann::json llm_json(const LlmSummary& summary);

// One line a call.
[[nodiscard]] std::string calls_table(const std::vector<LlmCall>& calls);

// "$0.0312"
[[nodiscard]] std::string money_text(std::int64_t billionths);

}  // namespace kernelpro
