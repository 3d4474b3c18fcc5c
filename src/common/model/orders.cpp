#include "common/model/orders.hpp"

#include "common/model/enum_names.hpp"

namespace kernelpro {

namespace {

constexpr std::array<std::string_view, 5> diagnose_kinds = {"candidate", "library", "program",
                                                            "nsys", "profile"};
static_assert(diagnose_kinds.size() == static_cast<std::size_t>(DiagnoseKind::profile) + 1);

}  // namespace

std::string_view name_of(DiagnoseKind kind) {
  return enum_name(diagnose_kinds, kind);
}

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

}  // namespace kernelpro
