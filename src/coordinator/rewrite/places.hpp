// Where statements stand in a program, and which loops there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

// An item, then by turns the index of a statement in its list and which list of that statement to
// enter (0: body, 1: otherwise). Odd in length: it ends at a statement.
struct Place {
  std::size_t item = 0;
  std::vector<std::size_t> path;

  bool operator==(const Place&) const = default;
};

[[nodiscard]] Stmt& stmt_at(Program& program, const Place& place);
[[nodiscard]] const Stmt& stmt_at(const Program& program, const Place& place);
// The list the statement stands in; its index there is the last step of the path.
[[nodiscard]] Body& list_at(Program& program, const Place& place);
[[nodiscard]] const Body& list_at(const Program& program, const Place& place);
void replace_at(Program& program, const Place& place, const Body& statements);

// All loops in the order of the text.
[[nodiscard]] std::vector<Place> loops_of(const Program& program);
// The loops around the place from outside in, itself last when it is a loop.
[[nodiscard]] std::vector<Place> loops_around(const Program& program, const Place& place);
// Loops without loops inside, deepest first; loops over lanes do not count.
[[nodiscard]] std::vector<Place> innermost_loops(const Program& program);
// All loops but those over lanes, those of deep nests first, outer before inner ones.
[[nodiscard]] std::vector<Place> hot_loops(const Program& program);

// Stands in what runs when a condition fails, where less time is spent as a rule.
[[nodiscard]] bool is_alternative(const Place& place);

// A loop with a constant number of rounds that a transformation made: its bound is a tunable.
[[nodiscard]] bool is_lane_loop(const Stmt& stmt, const Names& tunables);
[[nodiscard]] Names tunable_names(const Program& program);
// Has a header of the form for (v = lower; v < upper; ++v); `<=` counts with its upper made `<`.
[[nodiscard]] bool is_counted(const Stmt& stmt);
// The upper bound as for `<`.
[[nodiscard]] Expr end_of(const Loop& loop);

// "gemm: i, j" of the function at the place and its loops.
[[nodiscard]] std::string site_label(const Program& program, const std::vector<Place>& loops);
[[nodiscard]] std::string loop_label(const Stmt& loop);

// Adds a tunable behind the includes and gives its name, made from `wish`.
[[nodiscard]] std::string add_tunable(Program& program, const std::string& wish,
                                      const std::vector<std::int64_t>& values,
                                      std::int64_t current);
// Adds `#include <name>` when it is not there.
void add_include(Program& program, const std::string& name);
// Adds text behind the includes.
void add_to_head(Program& program, const std::string& text);
[[nodiscard]] std::string upper_case(std::string text);

}  // namespace kernelpro
