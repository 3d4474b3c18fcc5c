#include "common/model/orders.hpp"

namespace kernelpro {

std::string_view name_of(LintLevel level) {
  switch (level) {
    case LintLevel::error:
      return "error";
    case LintLevel::warning:
      return "warning";
    case LintLevel::note:
      return "note";
  }
  return "note";
}

std::optional<LintLevel> parse_lint_level(std::string_view name) {
  for (const LintLevel level : {LintLevel::error, LintLevel::warning, LintLevel::note}) {
    if (name_of(level) == name) {
      return level;
    }
  }
  return std::nullopt;
}

}  // namespace kernelpro
