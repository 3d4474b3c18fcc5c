// What a loop accumulates.
#pragma once

#include <optional>
#include <string>

#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

// How the loop accumulates into the variable: "+", "*", "max" or "min"; nothing when it touches it
// in any other way.
[[nodiscard]] std::optional<std::string> reduction_of(const Stmt& loop, const std::string& name);

// The arrays that the loop only adds to, at places that values decide: counts[data[i]] += 1.
[[nodiscard]] Names tables_of(const Stmt& loop);
// How many elements the array has, as far as one of the statements sets them all to zero; nothing
// when none does.
[[nodiscard]] std::optional<Expr> cleared_extent(const Body& body, const std::string& array);

// if (x > m) { m = x; } as m = x > m ? x : m wherever the loop does this with what it carries:
// compilers vectorize the one and not the other.
void choose_extremes(Stmt& loop);

// if (x < best) { best = x; index = ...; }: the place of the best besides the best itself.
struct BestIndex {
  std::string best;
  std::string index;
  std::string comparison;  // of a value with the best so far: < or >
};
// When the loop does this and nothing else with what it carries.
[[nodiscard]] std::optional<BestIndex> best_index_of(const Stmt& loop);

// The type of the variable as the loop knows it; empty when it does not occur.
[[nodiscard]] std::string type_in(const Body& body, const std::string& name);

}  // namespace kernelpro
