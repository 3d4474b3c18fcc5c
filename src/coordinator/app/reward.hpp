// What a verdict is worth to a training loop: one number, or none. docs/serve.md has the formula.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/model/verdict.hpp"

namespace kernelpro {

// Changes with every change of what any verdict is worth.
inline constexpr const char* reward_formula = "kernelpro-1";

struct Reward {
  std::optional<double> value;  // none: nothing can be learned from this verdict
  std::string because;          // in a few words
};

// `timed`: it was asked for its speed too.
[[nodiscard]] Reward reward_of(const Verdict& verdict, bool timed);
[[nodiscard]] nlohmann::json to_json(const Reward& reward);

}  // namespace kernelpro
