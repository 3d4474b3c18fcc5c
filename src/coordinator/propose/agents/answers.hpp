// What models answer, and what is wrong with an answer that cannot be used.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/candidate.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro::agents {

// schemas/agent_plan.json
struct Plan {
  std::string move;  // an id in snake_case: of a known move, or a new one
  std::string plan;
  double predicted_gain = 1;  // factor over the parent, as the model says it
  std::string why;
  std::string risks;
};

// schemas/agent_review.json
struct Review {
  bool follows_plan = true;
  bool honest = true;
  std::vector<std::string> objections;
};

enum class MishapKind {
  truncated,       // cut at the longest answer that is allowed
  refusal,         // the model, or a filter of its provider
  no_json,         // no JSON object in the text
  bad_json,        // there is one, and it is not as the schema has it
  no_code,         // prose alone
  two_sources,     // several blocks with kp_launch
  wrong_language,  // Python for CUDA, CUDA for a CPU
  no_kp_launch,    // a block that does not define it, or only what changes
  unchanged,       // the parent again
  too_long,        // a source that would not fit into the next prompt
};

[[nodiscard]] std::string_view name_of(MishapKind kind);

// Why an answer cannot be used.
struct Mishap {
  MishapKind kind = MishapKind::no_code;
  std::string complaint;  // to the model: what was wrong and what is expected
};

template <typename T>
using Read = std::variant<T, Mishap>;

// The last JSON object in the text, fenced or bare, that is as the schema says.
[[nodiscard]] Read<Plan> read_plan(const ChatAnswer& answer);
[[nodiscard]] Read<Review> read_review(const ChatAnswer& answer);

// The one code block that defines kp_launch, or the whole text where it is a source and nothing
// else. Build wishes are those of its first lines, else `otherwise`'s; the backend is
// `otherwise`'s. `parent` is what it must differ from, in source or build.
[[nodiscard]] Read<Candidate> read_source(
    const ChatAnswer& answer, const Candidate& parent, const Candidate& otherwise,
    std::int64_t most_tokens = std::numeric_limits<std::int64_t>::max());

}  // namespace kernelpro::agents
