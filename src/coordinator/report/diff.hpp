// What changed between two texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpro {

// A unified diff with three lines of context, as `patch` reads it; empty when the texts are equal.
[[nodiscard]] std::string unified_diff(const std::string& before, const std::string& after,
                                       const std::string& before_name,
                                       const std::string& after_name);

// One step from a list to another: kept (' '), or on one side only ('-', '+'). `before` and `after`
// are the places in the lists.
struct DiffStep {
  char sign = ' ';
  std::size_t before = 0;
  std::size_t after = 0;
};

// The fewest steps.
[[nodiscard]] std::vector<DiffStep> diff_steps(const std::vector<std::string_view>& before,
                                               const std::vector<std::string_view>& after);

}  // namespace kernelpro
