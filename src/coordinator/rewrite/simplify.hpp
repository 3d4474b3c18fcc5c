// Conditions that are settled by the bounds of the loops around them.
#pragma once

#include <vector>

#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

// `variable` lies between these, both included.
struct Fact {
  std::string variable;
  Expr lowest;
  Expr highest;
};

// The body without the conditions that always hold or never do, given facts from outside in.
[[nodiscard]] Body simplified(const Body& body, const std::vector<Fact>& facts);

// What is known of a loop's variable in its body; only for loops that count up.
[[nodiscard]] std::vector<Fact> facts_of(const Stmt& loop);

}  // namespace kernelpro
