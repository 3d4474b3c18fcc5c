// What a run asks of language models, and what one call of a model was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/node.hpp"

namespace kernelpro {

// Who speaks to a model, and what for.
enum class LlmRole {
  planner,   // diagnosis, moves and history become a move and a plan
  coder,     // a plan becomes a complete candidate
  fixer,     // a failed candidate and the evidence become a repaired one
  reviewer,  // does the code do what the plan says, and is it honest?
};

[[nodiscard]] std::string_view name_of(LlmRole role);
[[nodiscard]] std::optional<LlmRole> parse_llm_role(std::string_view name);
[[nodiscard]] const std::vector<LlmRole>& llm_roles();

// Tokens, as a provider counts them.
struct Usage {
  std::int64_t input = 0;          // all of the request, the two below included
  std::int64_t cached = 0;         // read from the provider's cache
  std::int64_t cache_written = 0;  // put into it
  std::int64_t output = 0;

  friend bool operator==(const Usage&, const Usage&) = default;
};

// In billionths of a dollar a token: 3 $ a million are 3000.
struct Price {
  std::int64_t input = 0;
  std::int64_t cached = 0;
  std::int64_t cache_written = 0;
  std::int64_t output = 0;

  friend bool operator==(const Price&, const Price&) = default;
};

// In billionths of a dollar.
[[nodiscard]] std::int64_t cost_of(const Usage& usage, const Price& price);

// "3/15", "3/15/0.3" or "3/15/0.3/3.75": dollars a million tokens of input, output, cached input
// and input put into the cache. Cached input costs as much as input where it is not given, and what
// is put into the cache a quarter more.
[[nodiscard]] std::optional<Price> parse_price(std::string_view text);

struct RoleSettings {
  std::string llm;  // empty: the run's
  std::optional<double> temperature;
};

// How a proposer may look at a profile.
enum class ToolUse {
  proactive,  // class and findings stand in the prompt
  reactive,   // the model may call a tool to see them
};

[[nodiscard]] std::string_view name_of(ToolUse use);
[[nodiscard]] std::optional<ToolUse> parse_tool_use(std::string_view name);

// How models learn from indexed code.
enum class CodeUse {
  none,
  before,  // what fits the plan stands in the prompt
  tools,   // the model may call tools to search and read
};

[[nodiscard]] std::string_view name_of(CodeUse use);
[[nodiscard]] std::optional<CodeUse> parse_code_use(std::string_view name);

struct LlmSettings {
  // "anthropic:MODEL", "openai:MODEL", "batch:DIR", "client:NAME", "replay:FILE"; folder and file
  // with their whole paths.
  std::string llm;
  std::map<LlmRole, RoleSettings> roles;  // where one differs
  std::string model;                      // batch: the name put into requests; empty: "any"
  std::string base_url;                   // anthropic, openai; empty: the provider's own
  std::string key_file;                   // where the key is read from; empty: from the environment
  std::int64_t max_output = 16384;        // tokens of one answer
  std::int64_t prompt_tokens = 48000;     // that a prompt may have
  std::int64_t token_budget = 0;          // 0: none
  std::int64_t money_budget = 0;          // in billionths of a dollar; 0: none
  std::map<std::string, Price> prices;    // by model; "" is for any other
  bool reviewer = false;
  ToolUse tools = ToolUse::proactive;
  CodeUse code = CodeUse::before;  // where something is indexed
  std::string prompts;             // a folder of prompt files; empty: those that are installed
  int repairs = 3;                 // how many failures in a row the fixer gets on one branch
  double timeout_seconds = 600;    // of one call
};

// Where a call stands.
enum class CallState {
  waiting,  // handed out, no answer yet: its reservation stands
  answered,
  failed,  // for good; `failure` says why. A stream that was cut costs what was reserved
};

[[nodiscard]] std::string_view name_of(CallState state);

// One call of a model, kept with its run.
struct LlmCall {
  std::string id;  // within its run: "7.coder.1" is the first turn of the coder for node 7
  NodeId node = root_node;
  LlmRole role = LlmRole::coder;
  int turn = 1;
  CallState state = CallState::waiting;
  std::string provider;     // "anthropic", "openai", "batch", "client", "replay"
  std::string model;        // that was asked for
  std::string answered_by;  // the model's name, as the answer has it
  std::string request;      // JSON, as it was sent
  std::string answer;       // JSON of a ChatAnswer; empty: none
  std::string failure;
  std::string started;  // UTC, ISO 8601
  std::int64_t latency_ns = 0;
  Usage usage;
  Usage reserved;         // the worst case
  std::int64_t cost = 0;  // in billionths of a dollar; of `reserved` while it waits
  bool priced = false;    // whether a price is known; without one the cost is 0
};

}  // namespace kernelpro
