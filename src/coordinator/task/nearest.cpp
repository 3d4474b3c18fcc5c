#include "coordinator/task/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace kernelpro {
namespace {

// Letters put in, left out, replaced, or swapped with the next one, three rows at a time.
std::size_t edits_between(const std::string& from, const std::string& to) {
  std::vector<std::size_t> before(to.size() + 1);
  std::vector<std::size_t> above(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replace = above[j - 1] + (from[i - 1] == to[j - 1] ? 0U : 1U);
      row[j] = std::min({replace, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[to.size()];
}

}  // namespace

std::optional<std::string> nearest(const std::string& name, const std::vector<std::string>& known) {
  const auto best = std::ranges::min_element(known, [&](const auto& a, const auto& b) {
    return edits_between(name, a) < edits_between(name, b);
  });
  const std::size_t allowed = name.size() > 3 ? 2 : 1;
  // One edit turns any single letter into any other: that is no likeness.
  if (best == known.end() || name.size() < 2 || edits_between(name, *best) > allowed) {
    return {};
  }
  return *best;
}

std::string suggest(const std::string& name, const std::vector<std::string>& known) {
  if (const auto meant = nearest(name, known)) {
    return fmt::format("; did you mean \"{}\"?", *meant);
  }
  return known.empty() ? "" : fmt::format("; known are \"{}\"", fmt::join(known, "\", \""));
}

}  // namespace kernelpro
